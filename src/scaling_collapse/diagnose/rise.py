"""Without a reference: does the loss rise? A healthy one falls, however fast, so only a rise is a fault.

The mean of the last bins is compared with that of the bins before them, over all pairs of window lengths. Any loss
that never rises passes at most as often as a constant one, for which the threshold is set: drops of the learning
rate, warm-up, plateaus and schedules of any kind are inside. A drift that only slows the fall down stays unseen.
"""

from __future__ import annotations

import numpy as np

from scaling_collapse.diagnose.correlation import COEFFICIENTS, local_correlations
from scaling_collapse.diagnose.noise import as_normal, look_back, noise_variance
from scaling_collapse.diagnose.windows import FEWEST_POINTS, FIRST_BINS, LENGTHS

#: A level is that of at least so many bins, or a quarter of those there are: at `cpu` scale the text of one or two bins
#: can be easy, and its end is no rise.
FEWEST_BEFORE = 4

#: Bins of the centred mean that is taken off before neighbouring bins are compared: a straight fall goes with it, a
#: bend hardly stays.
AROUND = 9

#: The autocorrelation is an estimate too, about as uncertain as the noise. Where white noise alarms in 1% of simulated
#: constant losses, that of rho 0.6 does in 12% with half of the degrees of freedom, and in 11% with a third.
FREEDOM_SHARE = 1 / 3

#: All pairs (after, before) of window lengths.
AFTER, BEFORE = (grid.ravel() for grid in np.meshgrid(LENGTHS, LENGTHS, indexing="ij"))


_CORRELATIONS = local_correlations(np.eye(AROUND)[AROUND // 2] - 1 / AROUND)


def rise(
    values: np.ndarray,
    count: np.ndarray,
    fraction: np.ndarray,
    ends: np.ndarray,
    wander: float,
    floor: np.ndarray | float = 0.0,
    known: tuple[np.ndarray, np.ndarray] | None = None,
) -> np.ndarray:
    """Return by how much `values` (..., n) rise up to each bin of `ends`, in standard deviations, (..., len(ends)).

    `values` are means of `count` (n,) points at `fraction` (n,) of training; means of windows may differ by noise,
    and by a healthy walk of sd `wander` per sqrt(training). The noise variance of a point is at least `floor` (n,);
    `known`: that variance (..., n) and its degrees of freedom (n,), where the values' own deviations do not tell it.
    -inf where there are too few bins to judge.
    """
    noise, freedom = known or noise_variance(values, count, fraction, floor)
    if known is None:
        noise = noise * _inflation(values, count)
        freedom = np.where(np.arange(len(freedom)) <= AROUND, freedom, freedom * FREEDOM_SHARE)
    sums = _cumulated(values * count)
    points, time = _cumulated(count), np.concatenate([fraction[:1], fraction])
    stop = ends[:, None] + 1
    middle, first = stop - AFTER, stop - AFTER - BEFORE
    usable = (first >= 0) & (stop >= FIRST_BINS)
    middle, first = np.maximum(middle, 0), np.maximum(first, 0)
    after, before = points[stop] - points[middle], points[middle] - points[first]
    usable &= (after >= FEWEST_POINTS) & (np.minimum(FEWEST_BEFORE, stop // FEWEST_BEFORE) <= BEFORE)
    after, before = np.where(usable, after, 1.0), np.where(usable, before, 1.0)
    step = (sums[..., stop] - sums[..., middle]) / after - (sums[..., middle] - sums[..., first]) / before
    variance = noise[..., ends, None] * (1 / after + 1 / before) + wander**2 * (time[stop] - time[first]) / 3
    largest = np.where(usable, as_normal(step / np.sqrt(variance), freedom[ends, None]), -np.inf)
    return np.asarray(largest.max(axis=-1))


def _cumulated(values: np.ndarray) -> np.ndarray:
    """Return sums of the first 0, 1, ..., n values along the last axis."""
    return np.concatenate([np.zeros((*values.shape[:-1], 1)), np.cumsum(values, axis=-1)], axis=-1)


def _inflation(values: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return by how much autocorrelated noise makes means vary more than white noise would, at each bin (..., n).

    For an autoregression of first order, whose coefficient neighbouring bins tell. Also undoes that `noise_variance`
    sees too little of such noise.
    """
    rho = np.zeros(values.shape)
    if values.shape[-1] > AROUND + 1:
        sums = _cumulated(values)
        half = AROUND // 2
        detrended = values[..., half:-half] - (sums[..., AROUND:] - sums[..., :-AROUND]) / AROUND
        detrended = detrended * np.sqrt(count[half:-half])
        product, square = _cumulated(detrended[..., 1:] * detrended[..., :-1]), _cumulated(detrended[..., 1:] ** 2)
        stop = np.arange(1, product.shape[-1])
        start = look_back(stop)
        near, own = (part[..., stop] - part[..., start] for part in (product, square))
        rho[..., AROUND:] = np.interp(near / np.maximum(own, 1e-300), _CORRELATIONS, COEFFICIENTS)
    return np.asarray(6 / (6 - 8 * rho + 2 * rho**2) * (1 + rho) / (1 - rho))
