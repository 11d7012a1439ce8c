"""How noisy the bins of a curve are, from the bins themselves: what a straight line through two neighbours misses."""

from __future__ import annotations

import numpy as np

#: Bins that the estimate looks back on: noise changes over training (by 15% between halves at `cpu` scale). Of fewer,
#: the first quarter is left out, where the loss bends most.
LOOK_BACK, STEEP_PART = 100, 4

#: Independent values among n such deviations of white noise: they share points, so var of their mean square is 1.94
#: times that of independent ones.
INDEPENDENT = 1 / 1.94

#: With few bins the estimate is drawn to 1% a point, by this many degrees of freedom: a factor of 2.1 is one standard
#: deviation of what to expect. Validation losses at `cpu` scale have 0.3%, losses of single batches 1 to 4%.
PRIOR_VARIANCE, PRIOR_FREEDOM = 1e-4, 0.9

#: E|x| of a standard normal value.
MEAN_ABSOLUTE = float(np.sqrt(2 / np.pi))


def noise_variance(
    values: np.ndarray, count: np.ndarray, fraction: np.ndarray, floor: np.ndarray | float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the noise variance of one point as known at each bin (..., n), and its degrees of freedom (n,).

    `values` (..., n) are means of `count` (n,) points at `fraction` (n,) of training. Only bins up to each are used.
    Absolute deviations are averaged, not squares: a jump then counts little. The variance is at least `floor` (n,).
    """
    points = len(count)
    found = np.full(values.shape, PRIOR_VARIANCE)
    freedom = np.full(points, PRIOR_FREEDOM)
    if points < 3:
        return found, freedom
    deviation = np.abs(deviations(values, count, fraction)) / MEAN_ABSOLUTE
    total = np.concatenate([np.zeros((*values.shape[:-1], 1)), np.cumsum(deviation, axis=-1)], axis=-1)
    stop = np.arange(1, points - 1)
    first = look_back(stop)
    mean = (total[..., stop] - total[..., first]) / (stop - first)
    own = INDEPENDENT * (stop - first)
    log_variance = 2 * np.log(np.maximum(mean, 1e-12))
    found[..., 2:] = np.exp((own * log_variance + PRIOR_FREEDOM * np.log(PRIOR_VARIANCE)) / (own + PRIOR_FREEDOM))
    freedom[2:] += own
    return np.maximum(found, floor), freedom


def deviations(values: np.ndarray, count: np.ndarray, fraction: np.ndarray) -> np.ndarray:
    """Return how far each inner bin lies above the line through its neighbours (..., n - 2), for a noise of 1 a point.

    In units of that noise they are standard normal, whatever straight course the values take.
    """
    share = (fraction[1:-1] - fraction[:-2]) / (fraction[2:] - fraction[:-2])
    line = (1 - share) * values[..., :-2] + share * values[..., 2:]
    spread = np.sqrt(1 / count[1:-1] + (1 - share) ** 2 / count[:-2] + share**2 / count[2:])
    return np.asarray((values[..., 1:-1] - line) / spread)


def look_back(stop: np.ndarray) -> np.ndarray:
    """Return the index of the first of the first `stop` values that an estimate at the last of them uses."""
    return np.asarray(np.maximum(stop - LOOK_BACK, stop // STEEP_PART))


def as_normal(ratio: np.ndarray, freedom: np.ndarray | float) -> np.ndarray:
    """Return the normal deviate of the same probability as `ratio` has under Student's t (Wallace 1959).

    So a deviation in units of a scale that is itself an estimate can be judged as if the scale were known.
    """
    size = np.sqrt(freedom * np.log1p(np.square(ratio) / freedom))
    return np.asarray(np.sign(ratio) * size * (8 * freedom + 1) / (8 * freedom + 3))
