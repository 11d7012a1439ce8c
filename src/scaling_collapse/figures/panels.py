"""The panels that figures are made of: normalised curves, their deviation from the family's mean, raw losses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator, MultipleLocator

from scaling_collapse.curves.measures import PERCENT
from scaling_collapse.figures import style
from scaling_collapse.figures.collapse import Family
from scaling_collapse.figures.lines import Line, as_measured, finished

Colours = dict[str, style.Colour]
Across = Callable[[Line], np.ndarray]

#: The normalised panels show l down from where it is at this fraction of training.
SHOWN_FROM = 0.12

#: In SVG files the strokes of runs are groups of these names, then the run.
RUN_GID = "run:"

DEVIATION = r"$\ell -$ mean"


def colours_by(fact: str, lines: Iterable[Line]) -> Colours:
    """Return a colour for each run, by one of its facts (see Line.fact)."""
    every = list(lines)
    quantity = {"size_params": "size", "batch_tokens": "batch", "lr_peak": "lr"}.get(fact, fact)
    by_value = style.colours(quantity, (line.fact(fact) for line in every))  # type: ignore[arg-type]
    return {line.run: by_value[line.fact(fact)] for line in every}


def draw_normalised(axes: Axes, lines: Sequence[Line], colour_of: Colours) -> None:
    """Draw l against t_hat; repeats with other seeds than the first are thin."""
    for line, first in _with_first(finished(lines)):
        width, alpha = (1.3, 1.0) if first else (0.7, 0.8)
        mark = "." if _is_sparse(line) else None
        look: dict[str, Any] = {"lw": width, "alpha": alpha, "marker": mark, "ms": 4, "gid": gid_of(line)}
        axes.plot(line.t_hat, line.normalised, color=colour_of[line.run], **look)
    axes.axhline(1, color=style.GREY, lw=0.6, ls=(0, (2, 2)), zorder=0)
    fraction_axis(axes)


def draw_band(axes: Axes, family: Family) -> None:
    """Shade one standard deviation over the family's sizes around their mean l."""
    half = family.std / PERCENT
    axes.fill_between(family.grid, family.mean - half, family.mean + half, color=style.FAINT, lw=0, zorder=0.5)


def limit_normalised(axes: Sequence[Axes], lines: Iterable[Line]) -> None:
    """Give panels of normalised curves one range of l: from just below 1 to where curves are at SHOWN_FROM."""
    whole = finished(lines)
    high = max((float(np.interp(SHOWN_FROM, line.t_hat, line.normalised)) for line in whole), default=1.2)
    low = min((float(line.normalised[line.t_hat > SHOWN_FROM].min()) for line in whole), default=1.0)
    high = max(high, low + 0.01)
    for panel in axes:
        panel.set_ylim(min(1 - 0.08 * (high - 1), low - 0.03 * (high - low)), high)
        panel.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))


def draw_deviation(axes: Axes, family: Family, colour_of: Colours) -> None:
    """Draw each finished line minus the family's mean, in percent of L(T), with the band of one deviation."""
    axes.fill_between(family.grid, -family.std, family.std, color=style.FAINT, lw=0, zorder=0.5)
    axes.axhline(0, color=style.GREY, lw=0.6, zorder=0.6)
    for line, first in _with_first(finished(family.lines)):
        width, alpha = (1.1, 1.0) if first else (0.6, 0.8)
        deviation = family.deviation(line)
        axes.plot(family.grid, deviation, color=colour_of[line.run], lw=width, alpha=alpha, gid=gid_of(line))
        if _is_sparse(line):
            at = line.t_hat[line.t_hat >= family.grid[0]]
            axes.plot(at, np.interp(at, family.grid, deviation), ".", color=colour_of[line.run], ms=4)
    fraction_axis(axes)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: style.signed(value) + "%" if value else "0"))


def limit_deviation(axes: Sequence[Axes], families: Iterable[Family]) -> None:
    """Give panels of deviations one symmetrical range."""
    largest = 0.1
    for family in families:
        curves = [family.deviation(line) for line in finished(family.lines)]
        largest = max(
            [largest, *(float(np.abs(curve).max()) for curve in curves), *family.std[np.isfinite(family.std)]]
        )
    for panel in axes:
        panel.set_ylim(-1.08 * largest, 1.08 * largest)
        panel.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10], symmetric=True))


def draw_loss(axes: Axes, lines: Sequence[Line], colour_of: Colours) -> None:
    """Draw smoothed losses [nats] against t_hat; a cross marks where a run ends that did not finish."""
    for line, first in _with_first(lines):
        axes.plot(line.t_hat, line.loss, color=colour_of[line.run], lw=1.3 if first else 0.7)
        if not line.finished:
            _cross(axes, line.t_hat[-1], line.loss[-1], colour_of[line.run])
    fraction_axis(axes)


def tokens(line: Line) -> np.ndarray:
    """Return the tokens seen at each point of a line."""
    return line.t_hat * float(line.curve.facts["tokens_total"])


def steps(line: Line) -> np.ndarray:
    """Return the optimiser steps at each point of a line."""
    return np.asarray(line.t_hat * line.curve.steps[-1] / line.curve.t_hat[-1])


def draw_measured(axes: Axes, lines: Sequence[Line], colour_of: Colours, across: Across = tokens) -> None:
    """Draw losses [nats] as measured across tokens (or steps); a cross marks where a run ends that did not finish."""
    for line, first in _with_first(lines):
        x, loss = across(line), as_measured(line)
        axes.plot(x, loss, color=colour_of[line.run], lw=1.0 if first else 0.5, gid=gid_of(line))
        if not line.finished:
            _cross(axes, x[-1], loss[-1], colour_of[line.run])
    axes.set(xscale="log", xlabel=across.__name__)


def _cross(axes: Axes, x: float, y: float, colour: style.Colour) -> None:
    (cross,) = axes.plot(x, y, "x", color=colour, ms=5, mew=1.3, clip_on=False, zorder=4)
    cross.set_in_layout(False)  # it may lie far above, where a loss ran away


def limit_measured(axes: Sequence[Axes], lines: Iterable[Line], across: Across = tokens) -> None:
    """Give panels of measured losses one range of tokens (or steps) and of losses, without the first, steep part."""
    every = list(lines)
    totals = [float(across(line)[-1] / line.t_hat[-1]) for line in every]
    low = min(float(line.loss.min()) for line in every)
    high = max(float(np.interp(0.03, line.t_hat, as_measured(line))) for line in every)
    for panel in axes:
        panel.set(ylim=(low - 0.06 * (high - low), high), xlim=(0.02 * min(totals), 1.25 * max(totals)))
        panel.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    for panel in axes[1:]:
        panel.tick_params(labelleft=False)


def limit_loss(axes: Sequence[Axes], lines: Iterable[Line]) -> None:
    """Give panels of losses against t_hat one range: from the lowest to the highest at SHOWN_FROM."""
    every = list(lines)
    low = min(float(line.loss.min()) for line in every)
    high = max(float(np.interp(SHOWN_FROM, line.t_hat, line.loss)) for line in every)
    for panel in axes:
        panel.set_ylim(low - 0.05 * (high - low), high)


def gid_of(line: Line) -> str:
    """Return the name of a run's stroke within an SVG file."""
    return f"{RUN_GID}{line.run}"


def fraction_axis(axes: Axes) -> None:
    """Let x be the whole of training."""
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_locator(MultipleLocator(0.2))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def share_labels(rows: np.ndarray, x: str, y: Sequence[str]) -> None:
    """Label x below the last of the `rows` of panels and y beside the first column; leave out other tick labels."""
    for row, label in zip(rows, y, strict=True):
        row[0].set_ylabel(label)
        for axes in row[1:]:
            axes.tick_params(labelleft=False)
    for row in rows[:-1]:
        for axes in row:
            axes.tick_params(labelbottom=False)
    for axes in rows[-1]:
        axes.set_xlabel(x)


def _is_sparse(line: Line) -> bool:
    """Whether a curve has so few points that each is marked, as validation losses have."""
    return len(line.t_hat) <= 30


def _with_first(lines: Sequence[Line]) -> list[tuple[Line, bool]]:
    """Return each line, and whether it is the first of its recipe (others are repeats with other seeds).

    Where the schedule is not known, nor is the recipe, and no run is a repeat.
    """
    seen: set[tuple[object, ...]] = set()
    marked = []
    for line in lines:
        recipe = line.curve.recipe if line.curve.facts["schedule"] else (line.run,)
        marked.append((line, recipe not in seen))
        seen.add(recipe)
    return marked
