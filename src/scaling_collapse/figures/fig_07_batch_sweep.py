"""Fig 7: with one weight decay the losses of different batch sizes cross; with one timescale they keep their order."""

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

COLUMNS = {
    "batch_sweep_fixed_weight_decay": r"one $\lambda$: $\tau$ grows with B",
    "batch_sweep_fixed_tau": r"one $\tau$: $\lambda$ follows B",
}
LEGEND = ("size", "tpp", "batch_tokens", "weight_decay", "tau")


def draw(curves: dict[str, pd.DataFrame], context: FigureContext) -> tuple[Figure, pd.DataFrame]:
    """Return losses [nats] of both sweeps, below them their difference from the sweep's mean, and the curves drawn."""
    sweeps = {group: lines_of(curves[group], context) for group in COLUMNS}
    every = [line for lines in sweeps.values() for line in lines]
    colour_of = panels.colours_by("batch_tokens", every)
    figure = Figure(figsize=(context.width, 4.4), layout="constrained")
    rows = figure.subplots(2, len(COLUMNS), sharey="row", height_ratios=[1.5, 1.0])
    for index, (group, lines) in enumerate(sweeps.items()):
        upper, lower = rows[:, index]
        panels.draw_loss(upper, lines, colour_of)
        _draw_difference(lower, finished(lines), context.grid, colour_of)
        legend.add(upper, legend.table(lines, colour_of, LEGEND, keep="batch_tokens"))
        style.letter(upper, index, COLUMNS[group], _words(finished(lines), context.grid))
    panels.limit_loss(rows[0], every)
    panels.share_labels(rows, style.T_HAT, ["loss [nats]", "loss $-$ mean\n[nats]"])
    figure.align_ylabels(rows[:, 0])
    diverged = [f"{line.run} (at {line.t_hat[-1]:.0%})" for line in every if not line.finished]
    style.note(figure, f"not finished, drawn up to a cross: {', '.join(diverged)}" if diverged else "")
    return figure, tidy(sweeps)


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
