"""Runs with a planted fault, ready to draw: residual against the smaller sizes, alarms, and who was healthy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from scaling_collapse.config.recipe import Restart
from scaling_collapse.curves.curve import Curve, curves_of
from scaling_collapse.curves.measures import PERCENT
from scaling_collapse.curves.smooth import Smoothing
from scaling_collapse.diagnose.alarm import Alarm
from scaling_collapse.diagnose.diagnose import diagnose_curve
from scaling_collapse.diagnose.family_reference import smaller_runs
from scaling_collapse.diagnose.reference import Reference, pooled, reference_of
from scaling_collapse.diagnose.seen import seen
from scaling_collapse.errors import FigureError
from scaling_collapse.figures import panels, style
from scaling_collapse.predict.template import total_steps

#: Run groups whose smaller sizes a faulty run may be held against.
FAMILIES = ("celerity_20tpp", "celerity_234tpp")

#: Window over which residuals are averaged to be drawn, as a fraction of training.
WINDOW = 0.03

SICK, SOUND = style.WARNING, "#2c6fbb"


@dataclass(frozen=True)
class Judged:
    """A run against its reference: `residual` [percent of the loss] at `t_hat`."""

    curve: Curve
    reference: Reference
    t_hat: np.ndarray
    residual: np.ndarray

    @cached_property
    def alarms(self) -> tuple[Alarm, ...]:
        """What is told with the reference."""
        return diagnose_curve(self.curve, self.reference).alarms

    @cached_property
    def alone(self) -> tuple[Alarm, ...]:
        """What is told from the loss alone."""
        return diagnose_curve(self.curve).alarms

    @property
    def restart(self) -> Restart | None:
        """The restart in mid-course, if there was one."""
        return Restart.named(self.curve.restart) if self.curve.restart else None

    def told_at(self, alarms: Sequence[Alarm]) -> float | None:
        """Fraction of training at which the first of `alarms` was told."""
        return alarms[0].alarm_step / total_steps(self.curve) if alarms else None


def siblings(curves: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the curves of the families among a figure's groups."""
    return pd.concat([curves[group] for group in curves if group in FAMILIES], ignore_index=True)


def judged(frame: pd.DataFrame, family: pd.DataFrame, smallest: bool = False) -> list[Judged]:
    """Return the runs of `frame` that have smaller siblings in `family`, judged against their mean.

    `smallest` takes the first run of the smallest size instead, as the paper does.
    """
    others, found = list(curves_of(family, "train")), []
    for curve in curves_of(frame, "train"):
        smaller = smaller_runs(curve, others)
        if not smaller:
            continue
        if smallest:
            smaller = [min(smaller, key=lambda other: (other.size_params, other.seed))]
        reference = pooled([reference_of(other, curve) for other in smaller])
        what = seen(curve, reference)
        known = np.isfinite(what.residual)
        found.append(Judged(curve, reference, what.fraction[known], what.residual[known]))
    return found


def initial_and_repaired(runs: Sequence[Judged]) -> tuple[Judged, Judged]:
    """Return the run whose kernel is wrong at its own micro-batches, and its repetition with the right kernel.

    Raises FigureError where one of them is missing.
    """
    initial = [run for run in runs if run.restart and run.restart.wrong_kernel_at]
    repaired = [run for run in runs if run.restart and not run.restart.wrong_kernel_at]
    if not (initial and repaired):
        raise FigureError("figure", "its groups have no run with a wrong kernel, or none with it repaired.")
    return initial[0], repaired[0]


def draw_residual(
    axes: Axes,
    run: Judged,
    colour: style.Colour | str,
    label: str,
    width: float = 1.4,
    stroke: str | tuple[float, tuple[float, ...]] = "-",
) -> None:
    """Draw a smoothed residual."""
    smooth = Smoothing(window=WINDOW)(run.residual + PERCENT, run.t_hat) - PERCENT
    axes.plot(run.t_hat, smooth, color=colour, lw=width, ls=stroke, label=label)


def mark_restart(axes: Axes, restart: Restart, text: str) -> None:
    """Draw a line where the run was restarted."""
    axes.axvline(restart.at, color=style.GREY, lw=0.8, ls=(0, (2, 2)), zorder=0)
    axes.annotate(
        text,
        (restart.at, 1),
        (-3, -2),
        xycoords=axes.get_xaxis_transform(),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize=style.TINY,
        color=style.GREY,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.0},
    )


def percent_axis(axes: Axes) -> None:
    """Let y be percents with their signs, x the whole of training."""
    panels.fraction_axis(axes)
    axes.axhline(0, color=style.GREY, lw=0.6, zorder=0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: style.signed(value) + "%" if value else "0"))
