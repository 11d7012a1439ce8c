"""Residuals of a healthy run made independent and standard normal, so that a test of them errs as often as it says.

The residual of a run against a reference is modelled as

    r(t) = level + walk(t) + noise,   walk: sd `wander` per sqrt(training),   noise: sd sigma/sqrt(points of the bin)

The first is not known (early-align: only its changes count), the second is how two healthy curves part, the third is
the noise of the batches. A Kalman filter predicts each bin from those before; its errors are independent if the model
holds. What is left of autocorrelation is estimated from the errors before and taken out, then their scale. Both come
from errors less the mean of those just before, so that a drift, which shifts them all, does not hide itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from scaling_collapse.diagnose.correlation import COEFFICIENTS, local_correlations
from scaling_collapse.diagnose.noise import as_normal
from scaling_collapse.diagnose.windows import FEWEST_POINTS, FIRST_BINS, LENGTHS

#: Walk of the residual between two healthy curves, relative, per sqrt(all training): maximum likelihood over the six
#: pairs of the `cpu` family at 20 TPP and t_hat >= 0.25 is .0030, over all 23 pairs of matched runs there .0035.
WANDER = 0.0035

#: The scale of the errors is that of about so many before: the first ones know the noise badly, and it changes.
SCALE_ERRORS = 32

#: Errors are cut here before they teach the filter's autocorrelation and scale.
CUT = 4.0

#: Errors just before, whose mean is taken off.
JUST_BEFORE = 8

#: The autocorrelation is drawn to zero as if this many errors without any had been seen.
NO_CORRELATION = 10.0

_CORRELATIONS = local_correlations(np.concatenate([[1.0], np.full(JUST_BEFORE, -1 / JUST_BEFORE)]))


@dataclass
class Whitener:
    """The filter, one bin at a time; all values may be arrays of one shape, for many runs at once."""

    wander: float = WANDER
    level: np.ndarray | float = 0.0
    variance: np.ndarray | float = 0.0
    fraction: float = 0.0
    start: list[tuple[np.ndarray, float, float]] = field(default_factory=list)
    last: np.ndarray | float = 0.0
    last_local: np.ndarray | float = 0.0
    recent: list[np.ndarray] = field(default_factory=list)
    recent_white: list[np.ndarray] = field(default_factory=list)
    products: np.ndarray | float = 0.0
    squares: np.ndarray | float = 0.0
    scale_squares: np.ndarray | float = 0.0
    scale_freedom: float = 0.0

    def __call__(
        self, residual: np.ndarray, count: float, fraction: float, noise: np.ndarray, freedom: float
    ) -> np.ndarray:
        """Return the standard normal error of a bin's `residual` of `count` points; 0 while the level is being found.

        `noise` is the variance of one point with `freedom` degrees of freedom, as known at this bin.
        """
        if len(self.start) < FIRST_BINS:
            self._begin(residual, count, fraction, noise, freedom)
            return np.zeros_like(residual)
        self.variance = self.variance + self.wander**2 * (fraction - self.fraction)
        self.fraction = fraction
        expected = self.variance + noise / count
        error = (residual - self.level) / np.sqrt(expected)
        gain = self.variance / expected
        self.level = self.level + gain * (residual - self.level)
        self.variance = self.variance * (1 - gain)
        return self._decorrelated(error)

    def _begin(self, residual: np.ndarray, count: float, fraction: float, noise: np.ndarray, freedom: float) -> None:
        self.start.append((residual, count, fraction))
        total = sum(weight for _, weight, _ in self.start)
        self.level = sum((value * weight for value, weight, _ in self.start), np.zeros_like(residual)) / total
        self.variance = noise / total + self.wander**2 * (fraction - self.start[0][2]) / 3
        self.fraction, self.scale_squares, self.scale_freedom = fraction, freedom, freedom

    def _decorrelated(self, error: np.ndarray) -> np.ndarray:
        """Return the error without what the one before explains, over the scale of those before."""
        share = np.interp(self.products / (self.squares + NO_CORRELATION), _CORRELATIONS, COEFFICIENTS)
        white = (error - share * self.last) / np.sqrt(1 - share**2)
        normal = as_normal(white / np.sqrt(self.scale_squares / self.scale_freedom), self.scale_freedom)
        local = _less_mean_before(self.recent, error)
        self.products = self.products + local * self.last_local
        self.squares = self.squares + local**2
        self.last, self.last_local = np.clip(error, -CUT, CUT), local
        kept = 1 - 1 / SCALE_ERRORS
        self.scale_squares = kept * self.scale_squares + _less_mean_before(self.recent_white, white) ** 2
        self.scale_freedom = kept * self.scale_freedom + 1
        return normal


def _less_mean_before(recent: list[np.ndarray], value: np.ndarray) -> np.ndarray:
    """Return a value less the mean of the JUST_BEFORE before it, of the same variance if white, and remember it."""
    cut = np.clip(value, -CUT, CUT)
    local = np.asarray((cut - sum(recent) / len(recent)) / np.sqrt(1 + 1 / len(recent))) if recent else cut
    recent.append(cut)
    del recent[:-JUST_BEFORE]
    return local


def whitened(
    residual: np.ndarray,
    count: np.ndarray,
    fraction: np.ndarray,
    noise: np.ndarray,
    freedom: np.ndarray,
    wander: float = WANDER,
) -> np.ndarray:
    """Return the standard normal errors of residuals (..., n) at `fraction` (n,); `noise` (..., n), others (n,)."""
    filtered = Whitener(wander)
    columns = [filtered(residual[..., i], count[i], fraction[i], noise[..., i], freedom[i]) for i in range(len(count))]
    return np.stack(columns, axis=-1)


def excess(errors: np.ndarray, count: Sequence[float] | np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the largest sum/sqrt(length) of whitened errors (..., n) over windows that end at each bin of `ends`.

    Shape (..., len(ends)); standard normal for one window. A window holds FEWEST_POINTS points and no bin from which
    the level was found.
    """
    sums = np.concatenate([np.zeros((*errors.shape[:-1], 1)), np.cumsum(errors, axis=-1)], axis=-1)
    points = np.concatenate([[0.0], np.cumsum(count)])
    stop = ends[:, None] + 1
    first = stop - LENGTHS
    usable = (first >= FIRST_BINS) & (points[stop] - points[np.maximum(first, 0)] >= FEWEST_POINTS)
    value = (sums[..., stop] - sums[..., np.maximum(first, 0)]) / np.sqrt(LENGTHS)
    return np.asarray(np.where(usable, value, -np.inf).max(axis=-1))
