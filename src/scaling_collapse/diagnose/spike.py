"""Single bins that stand out of the course of a loss: spikes that are over before a level could change.

A bin counts when it lies above the line through its neighbours and above where the bins before point to, and the next
bin is back. The second keeps the corner where the learning rate begins to fall from being taken for one.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from scaling_collapse.diagnose.noise import INDEPENDENT, MEAN_ABSOLUTE, STEEP_PART, as_normal, deviations

#: Deviations are taken to have the tails of Student's t with so many degrees of freedom, an excess kurtosis of 0.75:
#: the most that single losses of the 54 runs of `cpu` scale have. Their bins have 0.25, their validation losses 0.02.
TAIL_FREEDOM = 12.0

#: Bins on either side that tell the noise around a bin: it falls with the learning rate.
AROUND = 16

#: A spike lies so many standard deviations, by the noise before it, above where the bin before and the one SLOPE_BINS
#: earlier point to.
LEAST_RISE, SLOPE_BINS = 4.0, 4

#: Share of its height that the next bin has lost again.
COMES_BACK = 0.5

#: Deviations without which nothing is judged.
FEWEST_DEVIATIONS = 8


def spikes(
    values: np.ndarray, count: np.ndarray, fraction: np.ndarray, floor: np.ndarray, rate: float, bins: float
) -> np.ndarray:
    """Return the indices of bins that are spikes.

    `values` (n,) are means of `count` points at `fraction` of training, `floor` the least noise variance of a point.
    At most `rate` of healthy runs of `bins` bins get one. The first quarter of the bins is not judged: the loss bends.
    """
    points = len(values)
    if points < FEWEST_DEVIATIONS + 2:
        return np.empty(0, dtype=int)
    above = deviations(values, count, fraction)
    inside = np.arange(max(points // STEEP_PART, 1), points - 1)
    low, high = np.maximum(inside - 1 - AROUND, inside[0] - 1), np.minimum(inside + AROUND, len(above))
    around, others = _noise(above, low, high, inside)
    before, earlier = _noise(above, low, inside, inside)
    around, before = (np.sqrt(np.maximum(noise**2, floor[inside])) for noise in (around, before))
    freedom = np.minimum(TAIL_FREEDOM, INDEPENDENT * np.maximum(others, 1))
    stands_out = as_normal(above[inside - 1] / around, freedom) > -NormalDist().inv_cdf(rate / bins)
    expected, spread = _by_slope(values, count, fraction, inside)
    height = values[inside] - expected
    rises = (height > LEAST_RISE * before * spread) & (inside > SLOPE_BINS)
    comes_back = values[inside] - values[inside + 1] > COMES_BACK * height
    return np.asarray(inside[stands_out & rises & comes_back & (earlier >= FEWEST_DEVIATIONS)])


def _noise(above: np.ndarray, low: np.ndarray, high: np.ndarray, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the noise of a point from the deviations [low, high) without the three that a bin `index` is part of."""
    size = np.concatenate([[0.0], np.cumsum(np.abs(above))])
    own_low, own_high = np.maximum(index - 2, low), np.minimum(index + 1, high)
    others = (high - low) - (own_high - own_low)
    total = (size[high] - size[low]) - (size[own_high] - size[own_low])
    return np.maximum(total / np.maximum(others, 1) / MEAN_ABSOLUTE, 1e-12), others


def _by_slope(
    values: np.ndarray, count: np.ndarray, fraction: np.ndarray, index: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return where the bins before point to, and the spread of the bins around it for a noise of 1 a point."""
    before, far = np.maximum(index - 1, 0), np.maximum(index - 1 - SLOPE_BINS, 0)
    share = (fraction[index] - fraction[before]) / np.maximum(fraction[before] - fraction[far], 1e-12)
    spread = np.sqrt(1 / count[index] + (1 + share) ** 2 / count[before] + share**2 / count[far])
    return values[before] + share * (values[before] - values[far]), spread
