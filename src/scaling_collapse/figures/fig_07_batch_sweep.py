"""Fig 7: with one weight decay the losses of different batch sizes cross; with one timescale they keep their order.

Beside the curves' ends stand the final losses predicted at 30% of training, which know the crossings.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scaling_collapse.curves.grid import to_grid
from scaling_collapse.figures import legend, panels, style
from scaling_collapse.figures.context import FigureContext
from scaling_collapse.figures.lines import Line, finished, lines_of, tidy
from scaling_collapse.figures.sweeps import pool_of, predictions_of, settings_of
from scaling_collapse.predict.sweep_templates import sweep_templates

COLUMNS = {
    "batch_sweep_fixed_weight_decay": r"one $\lambda$: $\tau$ grows with B",
    "batch_sweep_fixed_tau": r"one $\tau$: $\lambda$ follows B",
}
#: Final losses are predicted from this fraction of training, and drawn at this x.
STOP, BESIDE = 0.3, 1.035
LEGEND = ("size", "tpp", "batch_tokens", "weight_decay", "tau")


def draw(curves: dict[str, pd.DataFrame], context: FigureContext) -> tuple[Figure, pd.DataFrame]:
    """Return losses [nats] of both sweeps, below them their difference from the sweep's mean, and the curves drawn.

    Column `predicted_final_loss` of the data is the same in all rows of a run.
    """
    sweeps = {group: lines_of(curves[group], context) for group in COLUMNS}
    every = [line for lines in sweeps.values() for line in lines]
    colour_of = panels.colours_by("batch_tokens", every)
    figure = Figure(figsize=(context.width, 4.4), layout="constrained")
    rows = figure.subplots(2, len(COLUMNS), sharey="row", height_ratios=[1.5, 1.0])
    predicted, sources = _predicted(curves, context)
    for index, (group, lines) in enumerate(sweeps.items()):
        upper, lower = rows[:, index]
        panels.draw_loss(upper, lines, colour_of)
        _draw_difference(lower, finished(lines), context.grid, colour_of)
        for line in finished(lines):
            loss = predicted[group].get(line.run, np.nan)
            upper.plot(BESIDE, loss, "o", color=colour_of[line.run], mfc="none", ms=4.5, mew=1.2)
        for axes in (upper, lower):
            axes.set_xlim(0, BESIDE + 0.035)
        legend.add(upper, legend.table(lines, colour_of, LEGEND, keep="batch_tokens"))
        style.letter(upper, index, COLUMNS[group], _words(finished(lines), context.grid))
    panels.limit_loss(rows[0], every)
    panels.share_labels(rows, style.T_HAT, ["loss [nats]", "loss $-$ mean\n[nats]"])
    figure.align_ylabels(rows[:, 0])
    diverged = [f"{line.run} (at {line.t_hat[-1]:.0%})" for line in every if not line.finished]
    words = f"circles: final loss predicted from {STOP:.0%} of training; templates: {sources}"
    style.note(figure, words, f"not finished, drawn up to a cross: {', '.join(diverged)}" if diverged else "")
    data = tidy(sweeps)
    pairs = zip(data["panel"], data["run"], strict=True)
    return figure, data.assign(predicted_final_loss=[predicted[group].get(run, np.nan) for group, run in pairs])


def _predicted(curves: dict[str, pd.DataFrame], context: FigureContext) -> tuple[dict[str, dict[str, float]], str]:
    """Return the predicted final loss [nats] of each run by sweep, and where the templates come from."""
    losses: dict[str, dict[str, float]] = {}
    sources = []
    for group in COLUMNS:
        settings = settings_of(context, curves[group])
        templates = sweep_templates(curves[group], pool_of(curves), normalisation=settings.normalisation)
        found = predictions_of(group, curves, templates, (STOP,), settings)
        losses[group] = dict(zip(found["run"], found["predicted_final_loss"].astype(float), strict=True))
        sources.append(templates.words)
    return losses, "; ".join(dict.fromkeys(sources))


def crossings(lines: list[Line], grid: np.ndarray) -> tuple[int, int]:
    """Return how many pairs of runs have another order of losses at the grid's end than at its start, of how many."""
    ends = [to_grid(line.t_hat, line.loss, grid[[0, -1]]) for line in lines]
    pairs = list(combinations(ends, 2))
    return sum(int((a[0] - b[0]) * (a[1] - b[1]) < 0) for a, b in pairs), len(pairs)


def _words(lines: list[Line], grid: np.ndarray) -> str:
    crossed, pairs = crossings(lines, grid)
    return f"{crossed} of {pairs} pairs cross" if pairs else "one run, nothing to compare"


def _draw_difference(axes: Axes, lines: list[Line], grid: np.ndarray, colour_of: panels.Colours) -> None:
    axes.axhline(0, color=style.GREY, lw=0.6, zorder=0.6)
    losses_RG = np.array([to_grid(line.t_hat, line.loss, grid) for line in lines]).reshape(len(lines), len(grid))
    for line, loss_G in zip(lines, losses_RG, strict=True):
        difference = loss_G - losses_RG.mean(axis=0)
        axes.plot(grid, difference, color=colour_of[line.run], lw=1.1)
    panels.fraction_axis(axes)
