"""Alarms on pictures: where faults began on the curves of a family, and one run as the alarm saw it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from scaling_collapse.curves.curve import Curve
from scaling_collapse.curves.smooth import Smoothing
from scaling_collapse.diagnose.alarm import Alarm
from scaling_collapse.diagnose.seen import Seen
from scaling_collapse.figures import style
from scaling_collapse.figures.lines import Line, as_measured
from scaling_collapse.figures.panels import SHOWN_FROM, Across
from scaling_collapse.predict.prediction import NINETY_PERCENT

EXPECTED, VALIDATION, POINTS = "#2166ac", "#3a8f5c", "#a0a0a0"

#: Residuals are averaged over this fraction of training, beside their single points.
WINDOW = 0.05

#: A loss that runs away is cut off above this many times the range of losses before, for many runs and for one alone.
MOST_RANGES, MOST_RANGES_ALONE = 2.0, 6.0


def mark_onsets(axes: Axes, lines: Sequence[Line], alarms: Mapping[int, Alarm], across: Across) -> None:
    """Mark on the curves of `axes` where faults began; `alarms` are by the number that stands beside each mark."""
    by_run = {line.run: line for line in lines}
    for number, alarm in alarms.items():
        line = by_run[alarm.run]
        x = across(line)
        t_hat = alarm.onset_step * line.curve.t_hat[-1] / line.curve.steps[-1]
        place = float(np.interp(t_hat, line.t_hat, x)), float(np.interp(t_hat, line.t_hat, as_measured(line)))
        axes.plot(*place, "o", ms=7, mfc="none", mec=style.WARNING, mew=1.4, zorder=6)
        _number(axes, str(number), place)


def show_faults(axes: Axes, lines: Sequence[Line]) -> None:
    """Raise the upper limit of a panel of measured losses so that losses that rise again are seen, if they can be."""
    low, high = axes.get_ylim()
    late = [float(as_measured(line)[line.t_hat > SHOWN_FROM].max(initial=0.0)) for line in lines]
    axes.set_ylim(low, min(max(high, *late), low + MOST_RANGES * (high - low)))


def draw_watched(
    seen: Seen, alarms: Mapping[int, Alarm], validation: Curve | None = None, reference: str = "reference"
) -> Figure:
    """Return one run by step: its losses, what the reference projects and the residual; faults with their intervals.

    `alarms` are by number. Inside `style.style` only.
    """
    compared = bool(np.isfinite(seen.residual).any())
    figure = Figure(figsize=(style.WIDTH, 3.9 if compared else 2.6), layout="constrained")
    rows = figure.subplots(1 + compared, 1, sharex=True, squeeze=False, height_ratios=[1.7, 1][: 1 + compared])[:, 0]
    _draw_losses(rows[0], seen, validation, reference)
    if compared:
        _draw_residual(rows[1], seen)
    for axes in rows:
        for alarm in alarms.values():
            colour = style.GREY if alarm.is_artefact else style.WARNING
            axes.axvspan(*alarm.onset_interval, color=colour, alpha=0.15, lw=0, zorder=0.4)
            axes.axvline(alarm.onset_step, color=colour, lw=1.0, zorder=2.5)
    for number, alarm in alarms.items():
        _number(rows[0], str(number), (alarm.onset_step, rows[0].get_ylim()[1]), -9)
    last = max([float(seen.step[-1]), *(alarm.onset_step for alarm in alarms.values())])
    rows[-1].set(xlabel="step", xlim=(0, last))
    handles, labels = rows[0].get_legend_handles_labels()
    if len(handles) > 1:
        figure.legend(handles, labels, loc="outside upper right", ncols=3)
    figure.align_ylabels(rows)
    return figure


def _draw_losses(axes: Axes, seen: Seen, validation: Curve | None, reference: str) -> None:
    mark = "." if len(seen.step) <= 40 else None
    axes.plot(seen.step, seen.loss, color=style.INK, lw=1.1, marker=mark, label="loss")
    if validation is not None:
        axes.plot(validation.steps, validation.loss, color=VALIDATION, lw=0.9, marker=".", ms=3.5, label="validation")
    if np.isfinite(seen.expected).any():
        words = f"as {style.plain(reference)} projects"
        axes.plot(seen.step, seen.expected, color=EXPECTED, lw=1.0, ls=(0, (4, 2)), label=words)
    low, high = float(seen.loss.min()), float(np.interp(SHOWN_FROM, seen.fraction, seen.loss))
    late = float(seen.loss[seen.fraction > SHOWN_FROM].max(initial=high))
    if validation is not None:
        low, late = min(low, float(validation.loss.min())), max(late, float(validation.loss[-1]))
    high = max(high, low + 1e-3)
    high = min(max(high, late), max(float(seen.loss[0]), low + MOST_RANGES_ALONE * (high - low)))
    axes.set(ylabel="loss [nats]", ylim=(low - 0.05 * (high - low), high + 0.05 * (high - low)))


def _draw_residual(axes: Axes, seen: Seen) -> None:
    half = NINETY_PERCENT * seen.healthy
    axes.fill_between(seen.step, -half, half, color=style.FAINT, lw=0, zorder=0.5)
    axes.axhline(0, color=style.GREY, lw=0.6, zorder=0.6)
    known = np.isfinite(seen.residual)
    axes.plot(seen.step[known], seen.residual[known], color=POINTS, lw=0.6)
    if known.sum() > 1:
        smooth = Smoothing(window=WINDOW)(seen.residual[known], seen.fraction[known])
        axes.plot(seen.step[known], smooth, color=style.INK, lw=1.2)
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: style.signed(value) + "%" if value else "0"))
    axes.set_ylabel("above reference")


def _number(axes: Axes, words: str, place: tuple[float, float], below: float = 5) -> None:
    box = {"boxstyle": "circle,pad=0.2", "fc": style.WARNING, "ec": "none"}
    axes.annotate(
        words,
        place,
        (6, below),
        textcoords="offset points",
        fontsize=style.TINY,
        color="white",
        fontweight="bold",
        va="center",
        bbox=box,
        zorder=7,
        annotation_clip=False,
    ).set_in_layout(False)
