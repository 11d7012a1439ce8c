"""Train and validation loss part: the run fits its training text better than it learns (section 7; overfitting)."""

from __future__ import annotations

import numpy as np

from scaling_collapse.diagnose.noise import noise_variance
from scaling_collapse.diagnose.rise import rise
from scaling_collapse.diagnose.stream import Series

#: Walk of log(validation/train loss) of healthy runs, per sqrt(training): over the 54 runs of `cpu` scale it rises by
#: 0.8% on average over t_hat in [0.25, 1] and by 2.2% at most, as lower losses part more.
GAP_WANDER = 0.015

#: Before this fraction of training the loss falls too fast to know the train loss at a validation.
GAP_FROM = 0.1

#: Bins of the training loss between two validations that a line needs.
FEWEST_BINS = 3


def gap(train: Series, validation: Series) -> tuple[Series, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Return the validations with enough training before them, log(validation/train loss) there, and its noise.

    The training loss at a validation is the end of the straight line through the bins since the one before. Noise is
    the variance of one gap (n,) and its degrees of freedom (n,).
    """
    train_noise, train_freedom = noise_variance(train.value, train.count, train.fraction, train.floor)
    noise, freedom = noise_variance(validation.value, validation.count, validation.fraction, validation.floor)
    first, stop = (np.searchsorted(train.stop, edge, side="right") for edge in (validation.start, validation.stop))
    keep = (stop - first >= FEWEST_BINS) & (validation.stop >= GAP_FROM)
    first, stop, seen = first[keep], stop[keep], validation.where(keep)
    points, level = _line_ends(train, first, stop, seen.stop)
    last = stop - 1
    noise = noise[keep] + 4 * seen.count * train_noise[last] / points
    return seen, seen.value - level, (noise, np.minimum(freedom[keep], train_freedom[last]))


def _line_ends(train: Series, first: np.ndarray, stop: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the points in bins [first, stop), and the value `at` a fraction of the line through these, each (n,)."""
    x, y = train.fraction, train.value
    moments = np.stack([np.ones_like(x), x, y, x * x, x * y]) * train.count
    sums = np.concatenate([np.zeros((len(moments), 1)), np.cumsum(moments, axis=1)], axis=1)
    points, *total = sums[:, stop] - sums[:, first]
    mean_x, mean_y, square, product = (part / points for part in total)
    slope = (product - mean_x * mean_y) / np.maximum(square - mean_x**2, 1e-15)
    return points, mean_y + slope * (at - mean_x)


def gap_rise(train: Series, validation: Series) -> float:
    """Return by how much the gap rose up to the last validation, in standard deviations; -inf without enough."""
    seen, values, noise = gap(train, validation)
    if not len(seen):
        return -np.inf
    return float(rise(values, seen.count, seen.fraction, np.array([len(seen) - 1]), GAP_WANDER, known=noise)[0])
