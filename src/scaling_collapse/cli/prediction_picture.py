"""Pictures of predictions and of advice, as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scaling_collapse.errors import FigureError
from scaling_collapse.figures import predictions as drawing
from scaling_collapse.figures import style
from scaling_collapse.whole_file import appearing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from scaling_collapse.cli.predicting import Found
    from scaling_collapse.predict.advise import Advice, RunAdvice

SUFFIXES = (".png", ".pdf", ".svg")
STOPPED = "#a0a0a0"


def draw_predictions(found: Found, path: Path) -> None:
    """Draw a panel for each run and save it. Raises FigureError for another suffix, or where it cannot be written."""
    _check(path)
    with style.style():
        figure = drawing.draw_predictions(found.predictions, found.curves, found.templates, found.template)
        if figure is None:
            raise FigureError(str(path), "there is no prediction to draw.", "see the warnings without --picture")
        _save(figure, path)


def draw_advice(found: Found, advice: Advice, path: Path) -> None:
    """Draw the sweep's curves beside the predicted final losses, best first, and save it. Raises as the other."""
    _check(path)
    with style.style():
        figure = drawing.new_figure(1, 2, height=max(2.6, 0.22 * len(advice.runs) + 1.1))
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


def _sweep_run(left: Axes, right: Axes, found: Found, advice: RunAdvice, place: int, colour: Any) -> None:
    prediction = advice.prediction
    left.plot(*drawing.known_part(found.curves[prediction.run], prediction.progress), color=colour, linewidth=1.1)
    if prediction.predicted_final_loss is None:
        return
    value, low, high = drawing.ends(prediction)
    right.errorbar([value], [place], xerr=[[value - low], [high - value]], color=colour, fmt="o", ms=3.5, capsize=2)
    if prediction.true_final_loss is not None:
        right.plot([prediction.true_final_loss], [place], marker="x", ms=4.5, color=drawing.KNOWN, linestyle="")


def _dress(left: Axes, right: Axes, found: Found, advice: Advice, ranked: Sequence[RunAdvice]) -> None:
    progress = min(a.prediction.progress for a in ranked)
    losses = [drawing.known_part(found.curves[a.prediction.run], a.prediction.progress) for a in ranked]
    top = max(float(np.interp(0.4 * progress, *part)) for part in losses)
    low = min(float(loss.min()) for _, loss in losses)
    left.set(xlim=(0, None), ylim=(low - 0.03 * (top - low), top), xlabel=style.T_HAT, ylabel="loss [nats]")
    style.letter(left, 0, "known so far")
    names = [style.plain(f"{a.prediction.run}  ({_word(a, advice)})") for a in ranked]
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
