"""Pictures of predictions: what is known of each run, the template aligned to it, and where it is expected to end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scaling_collapse.errors import FigureError
from scaling_collapse.whole_file import appearing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from scaling_collapse.cli.predicting import Found
    from scaling_collapse.curves.curve import Curve
    from scaling_collapse.predict.advise import Advice, RunAdvice
    from scaling_collapse.predict.prediction import Prediction

#: More runs than this do not fit a page.
MOST_RUNS = 12

#: Training losses are drawn as means over this fraction of training: wider windows bend the end of a short part.
WINDOW = 0.03

SUFFIXES = (".png", ".pdf", ".svg")
KNOWN, TEMPLATE, END, TRUE, STOPPED = "#222222", "#2166ac", "#b2182b", "#9a9a9a", "#a0a0a0"


def draw_predictions(found: Found, path: Path) -> None:
    """Draw a panel for each run and save it. Raises FigureError for another suffix, or where it cannot be written."""
    _check(path)
    from scaling_collapse.figures import style

    shown = [p for p in found.predictions if p.predicted_final_loss is not None][:MOST_RUNS]
    if not shown:
        raise FigureError(str(path), "there is no prediction to draw.", "see the warnings without --picture")
    columns = min(len(shown), 3)
    rows = -(-len(shown) // columns)
    with style.style():
        figure = _figure(rows, columns)
        panels = figure.subplots(rows, columns, squeeze=False).ravel()
        for index, (axes, prediction) in enumerate(zip(panels, shown, strict=False)):
            _panel(axes, found, prediction)
            axes.set_ylabel("loss [nats]" if index % columns == 0 else "")
            if index + columns < len(shown):
                axes.tick_params(labelbottom=False)
            else:
                axes.set_xlabel(style.T_HAT)
        for axes in panels[len(shown) :]:
            axes.set_visible(False)
        _legend(figure, found)
        left = len(found.predictions) - len(shown)
        style.note(figure, f"{left} of {len(found.predictions)} runs are not shown" if left else "")
        _save(figure, path)


def draw_advice(found: Found, advice: Advice, path: Path) -> None:
    """Draw the sweep's curves beside the predicted final losses, best first, and save it. Raises as the other."""
    _check(path)
    from scaling_collapse.figures import style

    with style.style():
        figure = _figure(1, 2, height=max(2.6, 0.22 * len(advice.runs) + 1.1))
        left, right = figure.subplots(1, 2, width_ratios=(1.1, 1))
        ranked = sorted(advice.runs, key=lambda a: a.prediction.predicted_final_loss or np.inf)
        palette = style.colours("tau", range(len(ranked)))
        colours = [STOPPED if one.stop else palette[place] for place, one in enumerate(ranked)]
        for place, (one, colour) in enumerate(zip(ranked, colours, strict=True)):
            _sweep_run(left, right, found, one, place, colour)
        _dress(left, right, found, advice, ranked)
        for label, colour in zip(right.get_yticklabels(), colours, strict=True):
            label.set_color(colour)
        _save(figure, path)


def _figure(rows: int, columns: int, height: float | None = None) -> Figure:
    from matplotlib.figure import Figure

    from scaling_collapse.figures.style import WIDTH

    width = WIDTH * (0.6 if columns == 1 else 1)
    return Figure(figsize=(width, height or 0.35 + 2.1 * rows), layout="constrained")


def _panel(axes: Axes, found: Found, prediction: Prediction) -> None:
    from scaling_collapse.figures import style

    curve, template = found.curves[prediction.run], found.templates[prediction.run]
    value, low, high = _ends(prediction)
    t_known, loss = known_part(curve, prediction.progress)
    if prediction.true_final_loss is not None and prediction.progress < 1:
        axes.plot(*known_part(curve, 1.0), color=TRUE, linewidth=1.0, zorder=1)
    t_hat = np.linspace(max(0.3 * prediction.progress, float(template.t_hat[0])), 1, 200)
    axes.plot(t_hat, value * template.at(t_hat), color=TEMPLATE, linewidth=1.0, linestyle=(0, (4, 2)), zorder=2)
    axes.plot(t_known, loss, color=KNOWN, zorder=3)
    axes.errorbar([1], [value], [[value - low], [high - value]], color=END, fmt="o", ms=3, capsize=3, zorder=4)
    top = float(np.interp(0.35 * prediction.progress, t_known, loss))
    margin = 0.06 * (top - min(low, float(loss[-1])))
    axes.set(xlim=(0, 1.05), ylim=(min(low, float(loss.min())) - margin, max(top, high) + margin))
    axes.set_title(prediction.run, loc="left", fontsize=style.SMALL)
    axes.annotate(
        f"{value:.3f} $\\pm$ {prediction.half_width_percent:.1f}%",
        (1, 1),
        xycoords="axes fraction",
        ha="right",
        va="top",
        fontsize=style.TINY,
        color=END,
    )


def _ends(prediction: Prediction) -> tuple[float, float, float]:
    """Return the value and the ends of its interval, of a prediction that has them."""
    known = (prediction.predicted_final_loss, prediction.low, prediction.high)
    value, low, high = (float("nan") if number is None else number for number in known)
    return value, low, high


def known_part(curve: Curve, progress: float) -> tuple[np.ndarray, np.ndarray]:
    """Return t_hat and loss up to `progress`; training losses smoothed lightly, with what is known up to there."""
    from scaling_collapse.curves.difficulty import adjusted_loss
    from scaling_collapse.curves.grid import ROUNDING
    from scaling_collapse.curves.smooth import Smoothing

    known = curve.t_hat <= progress + ROUNDING
    t_hat = curve.t_hat[known]
    loss = adjusted_loss(curve.loss[known], None if curve.difficulty is None else curve.difficulty[known])
    return t_hat, Smoothing(window=WINDOW)(loss, t_hat) if curve.split == "train" else loss


def _legend(figure: Figure, found: Found) -> None:
    from matplotlib.lines import Line2D

    lines: list[Any] = [Line2D([], [], color=KNOWN, label="known")]
    lines += [Line2D([], [], color=TEMPLATE, linestyle=(0, (4, 2)), linewidth=1.0, label=f"{found.template}, aligned")]
    lines += [Line2D([], [], color=END, marker="o", ms=3, linestyle="", label="predicted, 90% interval")]
    if any(p.true_final_loss is not None and p.progress < 1 for p in found.predictions):
        lines += [Line2D([], [], color=TRUE, linewidth=1.0, label="true")]
    figure.legend(handles=lines, loc="outside upper left", ncols=len(lines))


def _sweep_run(left: Axes, right: Axes, found: Found, advice: RunAdvice, place: int, colour: Any) -> None:
    prediction = advice.prediction
    left.plot(*known_part(found.curves[prediction.run], prediction.progress), color=colour, linewidth=1.1)
    if prediction.predicted_final_loss is None:
        return
    value, low, high = _ends(prediction)
    right.errorbar([value], [place], xerr=[[value - low], [high - value]], color=colour, fmt="o", ms=3.5, capsize=2)
    if prediction.true_final_loss is not None:
        right.plot([prediction.true_final_loss], [place], marker="x", ms=4.5, color=KNOWN, linestyle="")


def _dress(left: Axes, right: Axes, found: Found, advice: Advice, ranked: Sequence[RunAdvice]) -> None:
    from scaling_collapse.figures import style

    progress = min(a.prediction.progress for a in ranked)
    losses = [known_part(found.curves[a.prediction.run], a.prediction.progress) for a in ranked]
    top = max(float(np.interp(0.4 * progress, *part)) for part in losses)
    low = min(float(loss.min()) for _, loss in losses)
    left.set(xlim=(0, None), ylim=(low - 0.03 * (top - low), top), xlabel=style.T_HAT, ylabel="loss [nats]")
    style.letter(left, 0, "known so far")
    names = [f"{a.prediction.run}  ({_word(a, advice)})" for a in ranked]
    right.set(yticks=range(len(ranked)), ylim=(len(ranked) - 0.5, -0.5), xlabel="final loss [nats]")
    right.set_yticklabels(names, fontsize=style.TINY)
    true = any(a.prediction.true_final_loss is not None for a in ranked)
    style.letter(right, 1, "predicted, 90% interval" + ("; x: true" if true else ""))


def _word(one: RunAdvice, advice: Advice) -> str:
    if one.prediction.run == advice.best:
        return "best"
    if one.prediction.predicted_final_loss is None:
        return "no prediction"
    return "stop" if one.stop else f"{one.chance:.0%}"


def _check(path: Path) -> None:
    if path.suffix not in SUFFIXES:
        raise FigureError(
            str(path), f"pictures are {', '.join(SUFFIXES)} files, not {path.suffix or 'without suffix'}."
        )


def _save(figure: Figure, path: Path) -> None:
    """Write the picture beside its place first, then move it there whole."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with appearing(path) as partial:
            figure.savefig(partial, format=path.suffix.removeprefix("."))
    except OSError as error:
        raise FigureError(
            str(path), f"the picture could not be written: {error.strerror}.", "choose another place"
        ) from error
