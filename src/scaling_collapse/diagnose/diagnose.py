"""A finished or partial curve through the alarm: the same code as during training, so the same alarms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scaling_collapse.curves.curve import Curve
from scaling_collapse.curves.difficulty import adjusted_loss
from scaling_collapse.diagnose.alarm import Alarm
from scaling_collapse.diagnose.judge import RATE
from scaling_collapse.diagnose.monitor import Monitor
from scaling_collapse.diagnose.reference import Reference
from scaling_collapse.errors import CurveError

WITHOUT_REFERENCE = (
    "without a reference only rises of the loss are told: a fault that slows its fall down, or a drift below the fall, "
    "stays unseen"
)


@dataclass(frozen=True)
class Diagnosis:
    """All alarms of one run, the rate of false alarms that its tests hold, and what they could not see."""

    run: str
    alarms: tuple[Alarm, ...]
    rate: float
    notes: tuple[str, ...]

    @property
    def healthy(self) -> bool:
        """Whether training went well, whatever the log looks like."""
        return all(alarm.is_artefact for alarm in self.alarms)


def diagnose_curve(
    curve: Curve, reference: Reference | None = None, validation: Curve | None = None, rate: float = RATE
) -> Diagnosis:
    """Diagnose a curve of the tidy table, alone or against a reference, with or without its validation curve.

    Training losses are adjusted for the difficulty of their batches where that is known. Raises CurveError for a
    validation curve of another run, ConfigError for a rate that cannot be held.
    """
    if validation is not None and validation.run != curve.run:
        raise CurveError(curve.run, f"its validation curve is one of run {validation.run}.", "give curves of one run")
    total = float(curve.steps[-1] / curve.t_hat[-1])
    loss = adjusted_loss(curve.loss, curve.difficulty)
    held_out = None if validation is None else (validation.steps, validation.loss)
    return diagnose_log(curve.run, curve.t_hat * total, loss, total, reference, held_out, rate)


def diagnose_log(
    run: str,
    steps: Sequence[float] | np.ndarray,
    losses: Sequence[float] | np.ndarray,
    total_steps: float | None = None,
    reference: Reference | None = None,
    validation: tuple[Sequence[float] | np.ndarray, Sequence[float] | np.ndarray] | None = None,
    rate: float = RATE,
) -> Diagnosis:
    """Diagnose losses [nats] at steps as a log has them, in its order, faults of the log included.

    `total_steps` None takes the largest step as the end. `validation` holds steps and losses too. Raises CurveError
    for lists of different lengths or without a finite step.
    """
    steps, losses = np.asarray(steps, dtype=float), np.asarray(losses, dtype=float)
    if steps.shape != losses.shape or not np.isfinite(steps).any():
        raise CurveError(run, f"{len(steps)} steps and {len(losses)} losses; need equally many, and one at least.")
    end = float(np.nanmax(steps)) if total_steps is None else total_steps
    monitor = Monitor(run, max(end, 1.0), reference, rate, validation is not None)
    held_out = [] if validation is None else list(zip(*validation, strict=True))
    for step, loss in zip(steps.tolist(), losses.tolist(), strict=True):
        monitor.update(step, loss)
        while held_out and step >= held_out[0][0]:
            monitor.update_validation(*map(float, held_out.pop(0)))
    for step, loss in held_out:
        monitor.update_validation(float(step), float(loss))
    monitor.finish()
    notes = reference.notes if reference is not None else (WITHOUT_REFERENCE,)
    return Diagnosis(run, tuple(monitor.alarms), rate, notes)
