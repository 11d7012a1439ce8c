"""Fig 6 right: the loss of the faulty run, as measured and smoothed, and repaired; and the ablation that finds why."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scaling_collapse.curves.smooth import Smoothing
from scaling_collapse.figures import panels, style
from scaling_collapse.figures.context import FigureContext
from scaling_collapse.figures.faults import (
    SICK,
    SOUND,
    WINDOW,
    Judged,
    draw_residual,
    initial_and_repaired,
    judged,
    mark_restart,
    percent_axis,
    siblings,
)
from scaling_collapse.figures.lines import lines_of, tidy

FAULTY, ABLATION = "faulty_kernel", "faulty_kernel_ablation"

#: Strokes of the ablation's runs.
DASHES = ((0, (4, 2)), (0, (1, 1.5)), (0, (4, 1, 1, 1)), (0, (8, 2)))

#: Fraction of training from which the losses are shown.
FROM = 0.4


def draw(curves: dict[str, pd.DataFrame], context: FigureContext) -> tuple[Figure, pd.DataFrame]:
    """Return the losses of the faulty run and of the repaired one, the ablation, and the curves drawn."""
    family = siblings(curves)
    initial, repaired = initial_and_repaired(judged(curves[FAULTY], family))
    others = judged(curves[ABLATION], family)
    figure = Figure(figsize=(context.width, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    lines = lines_of(curves[FAULTY], context)
    for line in lines:
        is_initial = line.run == initial.curve.run
        if is_initial:
            curve = line.curve
            left.plot(curve.t_hat, curve.loss, color=SICK, lw=0.3, alpha=0.25, label="wrong kernel, each step")
        words = "wrong kernel, smoothed" if is_initial else "right kernel, smoothed"
        loss = Smoothing(window=WINDOW)(line.curve.loss, line.curve.t_hat)
        left.plot(line.curve.t_hat, loss, color=SICK if is_initial else SOUND, lw=1.4, label=words)
    _finish_losses(left, [line.loss[line.t_hat >= FROM] for line in lines])
    draw_residual(right, initial, SICK, _micro_batch(initial))
    draw_residual(right, repaired, SOUND, _micro_batch(repaired) + ", right kernel", 2.4)
    for run, dashes in zip(others, DASHES, strict=False):  # on top, as they lie on each other
        draw_residual(right, run, SICK if run.alarms else style.INK, _micro_batch(run), 0.9, dashes)
    percent_axis(right)
    right.set(xlabel=style.T_HAT, ylabel="loss above what the smaller\nsizes project", xlim=(FROM, 1))
    right.legend(loc="upper left", title="sequences at once")
    titles = {left: f"{initial.curve.facts['size']}, raw loss", right: "by micro-batch"}
    for index, (axes, title) in enumerate(titles.items()):
        style.letter(axes, index, title)
        if initial.restart is not None:
            mark_restart(axes, initial.restart, "restart" if axes is left else "")
    return figure, tidy({"losses": lines, "ablation": lines_of(curves[ABLATION], context)}, measured=True)


def _micro_batch(run: Judged) -> str:
    return str(run.restart.micro_batch) if run.restart else "all"


def _finish_losses(axes: Axes, shown: list) -> None:  # type: ignore[type-arg]
    low, high = min(loss.min() for loss in shown), max(loss.max() for loss in shown)
    panels.fraction_axis(axes)
    axes.set(xlim=(FROM, 1), ylim=(low - 0.25 * (high - low), high + 0.25 * (high - low)))
    axes.set(xlabel=style.T_HAT, ylabel="training loss [nats]")
    axes.legend(loc="lower left")
