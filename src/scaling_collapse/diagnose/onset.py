"""Where a fault began: the onset whose step, ramp or growing ramp explains the bins best, with its interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Twice the fall of the log likelihood at the ends of a 90% interval (Wilks; chi-square of one degree of freedom).
NINETY_PERCENT = 2.706

#: How faults may grow after their onset: (t - onset)^p.
POWERS = (0.0, 1.0, 2.0)

#: Keeps noise-free values, as in tests, from dividing by zero.
TINY = 1e-14


@dataclass(frozen=True)
class Onset:
    """Index of the first bin of the fault, the ends of its interval, and its shape.

    `power` 0 is a step, 1 a ramp, 2 a growing ramp.
    """

    index: int
    low: int
    high: int
    power: float


def onset_above_level(
    values: np.ndarray, count: np.ndarray, fraction: np.ndarray, noise: float, wander: float, latest: int | None = None
) -> Onset:
    """Return the onset of a rise in residuals (n,), means of `count` points at `fraction` of training.

    It is no later than bin `latest` (default: the last), where the rise was told already.
    Generalised least squares over all onsets and shapes, with noise of variance `noise` a point and a healthy walk of
    sd `wander` per sqrt(training) around a constant level that is not known.
    """
    walk = np.minimum.outer(fraction - fraction[0], fraction - fraction[0])
    lower = np.linalg.cholesky(np.diag(noise / count + TINY) + wander**2 * walk)
    shapes = _shapes(fraction)
    columns = [values[:, None], np.ones((len(values), 1)), *shapes]
    white = np.linalg.solve(lower, np.concatenate(columns, axis=1))
    level = white[:, 1] / np.linalg.norm(white[:, 1])
    free = white - np.outer(level, level @ white)
    projection = (free[:, 2:].T @ free[:, 0]).reshape(len(POWERS), -1)
    squares = np.maximum((free[:, 2:] ** 2).sum(axis=0), TINY).reshape(len(POWERS), -1)
    return _most_likely(np.where(projection > 0, projection**2 / squares, 0.0)[:, :latest])


def onset_above_fall(values: np.ndarray, count: np.ndarray, fraction: np.ndarray, noise: float) -> Onset:
    """Return the onset of a rise in losses (n,), which until then fell in any way: they never rose.

    Least squares over all onsets and shapes, with noise of variance `noise` a point; the fall is the best
    non-increasing one (pool adjacent violators).
    """
    misfit, level = _best_falls(values, count)
    gains = []
    for shape in _shapes(fraction):
        above = (values[:, None] - level) * (shape > 0)
        weighted = count[:, None] * shape
        size = np.maximum((weighted * above).sum(axis=0) / (weighted * shape).sum(axis=0), 0.0)
        left = (count[:, None] * (above - size * shape) ** 2).sum(axis=0)
        gains.append(-(misfit + left) / (noise + TINY))
    return _most_likely(np.array(gains))


def _most_likely(gain: np.ndarray) -> Onset:
    """Return the onset of the largest gain (powers, n - 1), twice a log likelihood, of each power and first bin."""
    power, best = np.unravel_index(int(gain.argmax()), gain.shape)
    likely = np.flatnonzero((gain >= gain.max() - NINETY_PERCENT).any(axis=0)) + 1
    return Onset(int(best) + 1, int(likely[0]), int(likely[-1]), POWERS[int(power)])


def _shapes(fraction: np.ndarray) -> list[np.ndarray]:
    """Return the courses (n, n - 1) of faults that begin at each bin but the first, one array for each power."""
    since = np.maximum(fraction[:, None] - fraction[:-1], 0.0)
    return [np.where(since > 0, since**power, 0.0) for power in POWERS]


def _best_falls(values: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the squared misfit (n - 1,) of the best non-increasing course to the first 1, ..., n - 1 values, and
    where that course ends."""
    blocks: list[tuple[float, float]] = []
    explained, seen = 0.0, 0.0
    misfit, level = np.empty(len(values) - 1), np.empty(len(values) - 1)
    for i, (value, weight) in enumerate(zip(values[:-1].tolist(), count[:-1].tolist(), strict=True)):
        total, points = value * weight, weight
        seen += value * total
        while blocks and blocks[-1][0] * points < total * blocks[-1][1]:
            before, more = blocks.pop()
            explained -= before**2 / more
            total, points = total + before, points + more
        blocks.append((total, points))
        explained += total**2 / points
        misfit[i], level[i] = max(seen - explained, 0.0), total / points
    return misfit, level
