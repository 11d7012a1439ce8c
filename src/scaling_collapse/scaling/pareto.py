"""Accuracy against cost: the Pareto frontier of models and the power law of Celerity's accuracy (section 5, Fig 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scaling_collapse.errors import ConfigError

#: Accuracy is in percent; the law's error rate is what it lacks to this.
FULL_ACCURACY = 100.0


@dataclass(frozen=True)
class AccuracyLaw:
    """Acc = 100 - (x/scale)^-exponent, accuracy in percent, x = FLOPs, tokens or parameters (section 5)."""

    scale: float
    exponent: float

    def __call__(self, x: ArrayLike) -> np.ndarray:
        """Return the accuracy [percent] at cost `x`."""
        return FULL_ACCURACY - (np.asarray(x, dtype=float) / self.scale) ** -self.exponent

    def cost(self, accuracy: ArrayLike) -> np.ndarray:
        """Return the cost x at which the law reaches `accuracy` [percent]."""
        return self.scale * (FULL_ACCURACY - np.asarray(accuracy, dtype=float)) ** (-1 / self.exponent)


def fit_accuracy(x: ArrayLike, accuracy: ArrayLike) -> AccuracyLaw:
    """Fit the law by least squares of log(100 - accuracy) on log x.

    Raises ConfigError for fewer than two different x, x <= 0, accuracy outside 0..100, or no dependence on x.
    """
    cost, percent = _pair(x, accuracy)
    if len(np.unique(cost)) < 2:
        raise ConfigError("accuracy fit", f"{len(np.unique(cost))} different cost(s); the law needs at least two.")
    if (cost <= 0).any() or (percent < 0).any() or (percent >= FULL_ACCURACY).any():
        raise ConfigError("accuracy fit", "costs must be positive and accuracies between 0 and 100 percent.")
    slope, intercept = np.polyfit(np.log(cost), np.log(FULL_ACCURACY - percent), 1)
    if abs(slope) < 1e-12:
        raise ConfigError("accuracy fit", "accuracy does not change with cost, so no power law describes it.")
    return AccuracyLaw(scale=float(np.exp(-intercept / slope)), exponent=float(-slope))


def pareto_frontier(cost: ArrayLike, value: ArrayLike) -> np.ndarray:
    """Return the indices of the points that no other beats, by rising cost.

    A point is beaten by one of at most its cost and at least its value, unless both are equal; of equal points
    the first stays.
    """
    costs, values = _pair(cost, value)
    order = np.lexsort((np.arange(len(costs)), -values, costs))
    best_before = np.concatenate([[-np.inf], np.maximum.accumulate(values[order])[:-1]])
    return order[values[order] > best_before]


def _pair(x: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return both as float vectors of one length. Raises ConfigError unless they are finite and as long."""
    first, second = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if first.shape != second.shape or first.ndim != 1:
        raise ConfigError("accuracy fit", f"shapes {first.shape} and {second.shape}; need two equal vectors.")
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ConfigError("accuracy fit", "a cost or value is not finite.", "leave such points out")
    return first, second
