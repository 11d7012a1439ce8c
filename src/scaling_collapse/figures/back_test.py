"""Ours: errors of each method against the part that was known, and what the intervals are worth, on finished runs."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from scaling_collapse.figures import panels, style
from scaling_collapse.figures.context import FigureContext
from scaling_collapse.predict.methods import AFFINE, KRIGING, L1, LEAST_SQUARES, POWER_LAW, RATIO
from scaling_collapse.predict.predict import AUTO

TABLE = "back_test"
Stroke = str | tuple[int, tuple[int, ...]]
KINDS = {"family": "sizes, from the smallest", "sweep": "sweeps, from other sizes"}
KNOWN = r"fraction of training known  $\hat t$"

#: Methods in the order of the legend, with colour and stroke; the choice among them is drawn last and heaviest.
METHODS: dict[str, tuple[str, str, Stroke]] = {
    L1: ("aligned, L1", "#2c6fbb", (0, (1, 1))),
    LEAST_SQUARES: ("aligned, least squares", "#2c6fbb", "-"),
    RATIO: ("aligned, ratio", "#2c6fbb", (0, (4, 2))),
    AFFINE: ("affine", "#d08b1d", "-"),
    POWER_LAW: ("power law", "#8a8a8a", "-"),
    KRIGING: ("kriging", "#3a8f5c", "-"),
    AUTO: ("chosen by back-tests", style.WARNING, "-"),
}
SPLITS: dict[str, tuple[str, Stroke]] = {"train": ("training loss", "-"), "validation": ("held-out loss", (0, (4, 2)))}


def draw(curves: dict[str, pd.DataFrame], context: FigureContext) -> tuple[Figure, pd.DataFrame]:
    """Return errors by method for families and sweeps, coverage and width of the intervals, and the numbers drawn."""
    rows = context.table(TABLE)
    rows = rows[rows["predicted_final_loss"].notna()].assign(error_percent=rows["error_percent"].abs())
    errors = rows.groupby(["kind", "method", "progress"])[["error_percent"]].mean().reset_index()
    chosen = rows[rows["method"] == AUTO].assign(covered=lambda table: 100.0 * table["covered"].astype(float))
    of = chosen.groupby(["kind", "split", "progress"])
    intervals = of.agg(
        covered_percent=("covered", "mean"), half_width_percent=("half_width_percent", "median"), runs=("run", "size")
    ).reset_index()
    figure = Figure(figsize=(context.width, 4.9), layout="constrained")
    grid = figure.subplots(2, 2, sharex=True, sharey="row", height_ratios=[1.45, 1.0])
    for index, (kind, title) in enumerate(KINDS.items()):
        _draw_errors(grid[0, index], errors[errors["kind"] == kind])
        _draw_intervals(grid[1, index], intervals[intervals["kind"] == kind])
        own = chosen[chosen["kind"] == kind]
        style.letter(grid[0, index], index, title, f"90% intervals cover {own['covered'].mean():.0f}% of {len(own)}")
    _finish(grid, errors)
    width = chosen["half_width_percent"].median()
    words = f"all: {chosen['covered'].mean():.1f}% of {len(chosen)} covered, median half-width {width:.2f}%"
    style.note(figure, words)
    return figure, pd.concat([errors, intervals.assign(method=AUTO)], ignore_index=True)


def _draw_errors(axes: Axes, errors: pd.DataFrame) -> None:
    for method, (words, colour, stroke) in METHODS.items():
        rows = errors[errors["method"] == method]
        width, mark = (2.2, "o") if method == AUTO else (1.1, None)
        axes.plot(
            rows["progress"], rows["error_percent"], color=colour, ls=stroke, lw=width, marker=mark, ms=3.5, label=words
        )


def _draw_intervals(axes: Axes, intervals: pd.DataFrame) -> None:
    for split, (words, stroke) in SPLITS.items():
        rows = intervals[intervals["split"] == split]
        axes.plot(rows["progress"], rows["half_width_percent"], color=style.WARNING, ls=stroke, lw=1.4, label=words)


def _finish(grid: np.ndarray, errors: pd.DataFrame) -> None:
    upper, lower = grid
    for axes in upper:
        axes.set(yscale="log", ylim=(0.05, 1.2 * float(errors["error_percent"].max())))
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}%"))
    for axes in lower:
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}%"))
        panels.fraction_axis(axes)
        axes.set_xlabel(KNOWN)
    upper[0].set_ylabel("mean |error| of the final loss")
    lower[0].set_ylabel("half-width of the\n90% interval (median)")
    upper[1].legend(loc="lower left")
    lower[1].legend(loc="upper right")
