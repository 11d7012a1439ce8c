"""The learning rate over training as the surrogate takes it: relative to its peak, at any fraction of training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scaling_collapse.config.recipe import Schedule
from scaling_collapse.errors import CurveError
from scaling_collapse.optim.schedules import learning_rates

#: A schedule that is given by its kind is laid out over this many steps.
STEPS = 2000


@dataclass(frozen=True)
class RateCurve:
    """Learning rate over its peak, `factor` (n,) at increasing fractions of training `t_hat` (n,).

    Between points it is linear; before the first and after the last it stays as there, so points should reach 1.
    """

    t_hat: np.ndarray
    factor: np.ndarray

    def __post_init__(self) -> None:
        t, factor = self.t_hat, self.factor
        if t.ndim != 1 or t.shape != factor.shape or len(t) == 0:
            raise CurveError("schedule", f"fractions {t.shape} and rates {factor.shape}; need two equal vectors.")
        if not (np.diff(t) > 0).all():
            raise CurveError("schedule", "fractions of training do not increase from point to point.")
        if not (np.isfinite(factor).all() and (factor >= 0).all()):
            raise CurveError("schedule", "a learning rate is negative or not finite.")

    def __call__(self, t_hat: np.ndarray) -> np.ndarray:
        """Return the rate at `t_hat`, in its shape."""
        return np.asarray(np.interp(t_hat, self.t_hat, self.factor))

    @property
    def end(self) -> float:
        """Rate at the end of training."""
        return float(self.factor[-1])


def rates_of(schedule: Schedule, steps: int = STEPS) -> RateCurve:
    """Return a schedule of optim/schedules, of a run of `steps`; a warm-up limit in tokens is not used."""
    fraction_only = schedule.model_copy(update={"warmup_max_tokens": None})
    return RateCurve(np.arange(1, steps + 1) / steps, learning_rates(fraction_only, steps, batch_tokens=1))


def logged_rates(t_hat: np.ndarray, lr: np.ndarray) -> RateCurve:
    """Return logged learning rates `lr` (n,) over their largest. Raises CurveError where that is not positive."""
    peak = float(np.max(lr)) if len(lr) else 0.0
    if not (np.isfinite(peak) and peak > 0):
        raise CurveError("schedule", f"the largest learning rate is {peak}; must be positive and finite.")
    return RateCurve(t_hat, lr / peak)
