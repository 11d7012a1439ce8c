"""Fig 1 right: residuals of a faulty run against the smaller sizes, before its loss shows anything; and repaired."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scaling_collapse.diagnose.alarm import Alarm
from scaling_collapse.figures import style
from scaling_collapse.figures.context import FigureContext
from scaling_collapse.figures.faults import (
    SICK,
    SOUND,
    Judged,
    draw_residual,
    initial_and_repaired,
    judged,
    mark_restart,
    percent_axis,
    siblings,
)
from scaling_collapse.predict.template import total_steps

FAULTY = "faulty_kernel"
MEAN, SMALLEST = "mean", "smallest"
PANELS = {MEAN: "against all smaller sizes", SMALLEST: "against the smallest, as the paper"}
HEALTHY = "#b9b9b9"


def draw(curves: dict[str, pd.DataFrame], context: FigureContext) -> tuple[Figure, pd.DataFrame]:
    """Return residuals of the faulty run, of its repetition and of the healthy family, and the numbers drawn."""
    family, parts, notes = siblings(curves), [], []
    figure = Figure(figsize=(context.width, 3.3), layout="constrained")
    row = figure.subplots(1, 2, sharey=True)
    for index, (axes, (panel, title)) in enumerate(zip(row, PANELS.items(), strict=True)):
        smallest = panel == SMALLEST
        initial, repaired = initial_and_repaired(judged(curves[FAULTY], family, smallest))
        healthy = judged(family, family, smallest)
        for run in healthy:
            draw_residual(axes, run, HEALTHY, "healthy sizes" if run is healthy[0] else "_", 0.9)
        draw_residual(axes, repaired, SOUND, "right kernel again")
        draw_residual(axes, initial, SICK, "wrong kernel")
        _finish(axes, initial)
        style.letter(axes, index, title, _words(initial))
        notes.append(f"{chr(ord('a') + index)}: {initial.reference.source}")
        rows = [(run, "family") for run in healthy] + [(repaired, "repaired"), (initial, "initial")]
        parts += [_data(run).assign(panel=panel, kind=kind) for run, kind in rows]
    row[0].set_ylabel("loss above what smaller\nsizes project")
    row[0].legend(loc="upper left")
    alone = initial.told_at(initial.alone)
    style.note(figure, f"the loss alone: {'no alarm' if alone is None else f'alarm at {alone:.0%}'}", "; ".join(notes))
    return figure, pd.concat(parts, ignore_index=True)


def _finish(axes: Axes, initial: Judged) -> None:
    percent_axis(axes)
    axes.set_xlabel(style.T_HAT)
    if initial.restart is not None:
        mark_restart(axes, initial.restart, "restart")
    if initial.alarms:
        _mark_alarm(axes, initial, initial.alarms[0])


def _mark_alarm(axes: Axes, run: Judged, alarm: Alarm) -> None:
    """Draw where the fault was told, on its residual."""
    at = alarm.alarm_step / total_steps(run.curve)
    axes.plot(at, 0, "v", color=SICK, ms=5, transform=axes.get_xaxis_transform(), clip_on=False, label="alarm")


def _words(run: Judged) -> str:
    """Return 'alarm at 64%, onset put at 60.5%'."""
    told = run.told_at(run.alarms)
    return "no alarm" if told is None else f"alarm at {told:.1%}, onset put at {run.alarms[0].onset_fraction:.1%}"


def _data(run: Judged) -> pd.DataFrame:
    facts = {"run": run.curve.run, "reference": run.reference.source}
    return pd.DataFrame({"t_hat": run.t_hat, "residual_percent": run.residual}).assign(**facts)
