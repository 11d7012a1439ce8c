"""Predictions of runs in progress: what is known of each, the template aligned to it, and where it is to end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from scaling_collapse.curves.curve import Curve
from scaling_collapse.curves.difficulty import adjusted_loss
from scaling_collapse.curves.grid import ROUNDING
from scaling_collapse.curves.smooth import Smoothing
from scaling_collapse.figures import style
from scaling_collapse.predict.prediction import Prediction
from scaling_collapse.predict.template import Template

#: More runs than this do not fit a page.
MOST_RUNS = 12

#: Training losses are drawn as means over this fraction of training: wider windows bend the end of a short part.
WINDOW = 0.03

KNOWN, TEMPLATE, END, TRUE = "#222222", "#2166ac", "#b2182b", "#9a9a9a"


def draw_predictions(
    predictions: Sequence[Prediction], curves: Mapping[str, Curve], templates: Mapping[str, Template], words: str
) -> Figure | None:
    """Return a figure with a panel for each prediction that has a value, None without any; `curves` and `templates`
    are by run, `words` say what the templates are. Inside `style.style` only.
    """
    shown = [p for p in predictions if p.predicted_final_loss is not None][:MOST_RUNS]
    if not shown:
        return None
    columns = min(len(shown), 3)
    rows = -(-len(shown) // columns)
    figure = new_figure(rows, columns)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for index, (axes, prediction) in enumerate(zip(panels, shown, strict=False)):
        _panel(axes, curves[prediction.run], templates[prediction.run], prediction)
        axes.set_ylabel("loss [nats]" if index % columns == 0 else "")
        if index + columns < len(shown):
            axes.tick_params(labelbottom=False)
        else:
            axes.set_xlabel(style.T_HAT)
    for axes in panels[len(shown) :]:
        axes.set_visible(False)
    _legend(figure, words, any(p.true_final_loss is not None and p.progress < 1 for p in predictions))
    left = len(predictions) - len(shown)
    style.note(figure, f"{left} of {len(predictions)} runs are not shown" if left else "")
    return figure


def new_figure(rows: int, columns: int, height: float | None = None) -> Figure:
    """Return an empty figure for so many panels, `height` inches tall or as tall as they need."""
    width = style.WIDTH * (0.6 if columns == 1 else 1)
    return Figure(figsize=(width, height or 0.35 + 2.1 * rows), layout="constrained")


def known_part(curve: Curve, progress: float) -> tuple[np.ndarray, np.ndarray]:
    """Return t_hat and loss up to `progress`; training losses smoothed lightly, with what is known up to there."""
    known = curve.t_hat <= progress + ROUNDING
    t_hat = curve.t_hat[known]
    loss = adjusted_loss(curve.loss[known], None if curve.difficulty is None else curve.difficulty[known])
    return t_hat, Smoothing(window=WINDOW)(loss, t_hat) if curve.split == "train" else loss


def ends(prediction: Prediction) -> tuple[float, float, float]:
    """Return the value and the ends of its interval, of a prediction that has them."""
    known = (prediction.predicted_final_loss, prediction.low, prediction.high)
    value, low, high = (float("nan") if number is None else number for number in known)
    return value, low, high


def _panel(axes: Axes, curve: Curve, template: Template, prediction: Prediction) -> None:
    value, low, high = ends(prediction)
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
    axes.set_title(style.plain(prediction.run), loc="left", fontsize=style.SMALL)
    axes.annotate(
        f"{value:.3f} $\\pm$ {prediction.half_width_percent:.1f}%",
        (1, 1),
        xycoords="axes fraction",
        ha="right",
        va="top",
        fontsize=style.TINY,
        color=END,
    )


def _legend(figure: Figure, words: str, back_test: bool) -> None:
    lines: list[Any] = [Line2D([], [], color=KNOWN, label="known")]
    aligned = f"{style.plain(words)}, aligned"
    lines += [Line2D([], [], color=TEMPLATE, linestyle=(0, (4, 2)), linewidth=1.0, label=aligned)]
    lines += [Line2D([], [], color=END, marker="o", ms=3, linestyle="", label="predicted, 90% interval")]
    if back_test:
        lines += [Line2D([], [], color=TRUE, linewidth=1.0, label="true")]
    figure.legend(handles=lines, loc="outside upper left", ncols=len(lines))
