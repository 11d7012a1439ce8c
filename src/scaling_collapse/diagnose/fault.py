"""A fault in progress: where it began, how large it is, whether it is over, and of which kind it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scaling_collapse.diagnose.alarm import Kind
from scaling_collapse.diagnose.noise import noise_variance
from scaling_collapse.diagnose.onset import Onset, onset_above_fall, onset_above_level
from scaling_collapse.diagnose.windows import FEWEST_POINTS, LENGTHS

#: Bins before a fault that tell the level to which it has to come back; fewer where the healthy loss still falls.
LEVEL_BINS, FALLING_LEVEL_BINS = 8, 3

#: Standard errors within which a level counts as reached.
ERRORS = 2.0

#: A fault of which less than this share is left comes back.
COMING_BACK = 0.5

#: Bins after the alarm that still tell where a residual left its level; later ones say little of the beginning.
BINS_AFTER = 24

#: A rise that lasts for more of training than this, and does not come back, is no spike.
SPIKE_LASTS = 0.05


@dataclass(frozen=True)
class Fault:
    """What the bins say about a fault: onset, `peak` and `excess` now [relative], length [fraction of training].

    `at_start`: the interval of the onset reaches back to the first bin. `coming_back`: less than half is left.
    """

    onset: Onset
    peak: float
    excess: float
    length: float
    at_start: bool
    coming_back: bool
    recovered: bool


def assess(
    values: np.ndarray, count: np.ndarray, fraction: np.ndarray, suspect: int, wander: float, falling: bool
) -> Fault:
    """Return the fault in `values` (n,), log losses or residuals, that a test found at bin `suspect`.

    `falling`: without a fault the values may fall, as losses do; else they stay where they were, as residuals do.
    """
    known = slice(0, suspect + 1)
    noise = float(noise_variance(values[known], count[known], fraction[known])[0][-1])
    if falling:
        onset = onset_above_fall(values[known], count[known], fraction[known], noise)
    else:
        part = slice(0, suspect + 1 + BINS_AFTER)
        onset = onset_above_level(values[part], count[part], fraction[part], noise, wander, suspect)
    bins = FALLING_LEVEL_BINS if falling else LEVEL_BINS
    before = slice(max(0, onset.index - bins), onset.index)
    above = values[onset.index :] - np.average(values[before], weights=count[before])
    weights, time = count[onset.index :], fraction[onset.index :]
    pieces = [piece for piece in np.array_split(np.arange(len(above)), 3) if len(piece)]
    thirds = [float(np.average(above[piece], weights=weights[piece])) for piece in pieces]
    level_noise = noise / count[before].sum()
    return Fault(
        onset=onset,
        peak=max(thirds),
        excess=thirds[-1],
        length=float(time[-1] - fraction[onset.index - 1]),
        at_start=not falling and onset.low <= 1,
        coming_back=thirds[-1] < COMING_BACK * max(thirds),
        recovered=_is_over(above, weights, time, noise, level_noise, wander),
    )


def _is_over(
    above: np.ndarray, count: np.ndarray, time: np.ndarray, noise: float, level_noise: float, wander: float
) -> bool:
    """Whether some last bins lie at the level before, so surely that half of the largest excess cannot be left.

    The largest excess is the one that is sure: the highest mean of bins in a row, less its error.
    """
    sums, points = (np.concatenate([[0.0], np.cumsum(values)]) for values in (above * count, count))
    bins = LENGTHS[len(above) >= LENGTHS]
    stop = np.arange(1, len(above) + 1)[:, None]
    first = np.maximum(stop - bins, 0)
    inside = points[stop] - points[first]
    mean = (sums[stop] - sums[first]) / inside
    error = ERRORS * np.sqrt(noise / inside + level_noise + wander**2 * (time[stop - 1] - time[0]))
    judged = (stop >= bins) & (inside >= FEWEST_POINTS)
    sure = np.where(judged, mean - error, -np.inf)
    peak = int(sure.max(axis=1).argmax())
    after = judged[-1] & (first[-1] > peak)
    back = (mean[-1] <= error[-1]) & (mean[-1] + error[-1] < COMING_BACK * sure.max())
    return bool((after & back).any())


def is_above(values: np.ndarray, count: np.ndarray, before: np.ndarray) -> bool:
    """Whether the last losses lie above those just before a fault, a mask of the bins `before` it."""
    level = np.flatnonzero(before)[-FALLING_LEVEL_BINS:]
    last = np.arange(len(values))[~before][-LEVEL_BINS:]
    if not (len(level) and len(last)):
        return True
    return bool(np.average(values[last], weights=count[last]) > np.average(values[level], weights=count[level]))


def kind_of(fault: Fault, rose: bool) -> Kind:
    """Return the kind of a fault; `rose`: the loss itself went up and is still above its level before."""
    if rose or (fault.recovered and fault.length <= SPIKE_LASTS):
        lasting = fault.length > SPIKE_LASTS and not (fault.coming_back or fault.recovered)
        return "divergence" if lasting else "spike"
    return "slow_convergence" if fault.at_start else "drift"
