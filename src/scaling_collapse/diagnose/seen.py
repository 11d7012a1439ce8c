"""What the alarm saw of a curve, for people to look at: its bins, and how far they lie from the reference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scaling_collapse.curves.curve import Curve
from scaling_collapse.curves.measures import PERCENT
from scaling_collapse.diagnose.reference import ALIGN_FROM, Reference
from scaling_collapse.diagnose.residual import binned, residual_series
from scaling_collapse.diagnose.stream import Series

#: Early-align takes 25 to 50% of training (section 1): there the reference gets the run's level.
ALIGN_TO = 0.5


@dataclass(frozen=True)
class Seen:
    """Bins of one curve: arrays of shape (n,), NaN before the reference is compared, and without one.

    `loss` [nats] at `step` and `fraction` of training; `expected` [nats] is the reference at the run's level,
    `residual` how far the loss lies above it [percent], and `healthy` the standard deviation of the walk by which
    healthy runs do [percent].
    """

    step: np.ndarray
    fraction: np.ndarray
    loss: np.ndarray
    expected: np.ndarray
    residual: np.ndarray
    healthy: np.ndarray


def seen(curve: Curve, reference: Reference | None = None, onset: float | None = None) -> Seen:
    """Return what the alarm saw of `curve`; the level is taken before `onset` [fraction of training], if it can be."""
    series = binned(curve)
    unknown = np.full(len(series), np.nan)
    expected, residual, healthy = unknown.copy(), unknown.copy(), unknown.copy()
    if reference is not None and (late := series.start >= ALIGN_FROM).any():
        stop = ALIGN_TO if onset is None or not ALIGN_FROM < onset < ALIGN_TO else onset
        residual[late], healthy[late] = _residual(series, reference, stop)
        expected[late] = np.exp(series.raw[late] - residual[late] / PERCENT)
    return Seen(series.step, series.fraction, np.exp(series.raw), expected, residual, healthy)


def _residual(series: Series, reference: Reference, stop: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the residual above its mean up to `stop`, and the walk of healthy runs, in percent, of the late bins."""
    late, values = residual_series(series, reference)
    values = values + late.raw - late.value  # pictures show wild points too
    early = late.fraction <= stop
    early[0] = True
    walk = reference.wander * np.sqrt(walk_variance(late.fraction, ALIGN_FROM, stop))
    return PERCENT * (values - values[early].mean()), PERCENT * walk


def walk_variance(t: np.ndarray, start: float, stop: float) -> np.ndarray:
    """Return the variance at `t` of a Brownian motion of variance 1 per unit time, less its mean over (start, stop)."""
    width = stop - start
    share = np.clip((t - start) / width, 0, 1)
    inside = width * (share**3 + (1 - share) ** 3) / 3
    return np.asarray(inside + np.maximum(t - stop, 0) + np.maximum(start - t, 0))
