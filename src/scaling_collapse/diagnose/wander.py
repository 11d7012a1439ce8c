"""The healthy walk between two curves, measured on repeats with other seeds: the noise floor of the alarm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scaling_collapse.curves.curve import Curve
from scaling_collapse.diagnose.reference import reference_of
from scaling_collapse.diagnose.residual import binned, residual_series
from scaling_collapse.diagnose.whiten import WANDER
from scaling_collapse.errors import CurveError

#: A pair of seeds says little about the walk: the usual one is the prior, and a factor of two from it is one standard
#: deviation. Pairs of `cpu` scale lie within that, from 0.1% to 0.6%.
PRIOR_FACTOR = 2.0

#: Walks that are tried, per sqrt(training).
_TRIED = np.geomspace(2e-4, 5e-2, 121)

#: Bins below which a pair tells nothing.
_FEWEST_BINS = 8


def wander_of_repeats(repeats: Sequence[Curve]) -> float:
    """Return the walk, per sqrt(training), between runs that differ in their seeds alone: the most likely one.

    All pairs with the first run count. Raises CurveError for fewer than two runs, or fewer than 8 bins after the
    start of alignment.
    """
    if len(repeats) < 2:
        raise CurveError("noise floor", f"{len(repeats)} run(s); seeds tell a walk from two on.", "repeat a run")
    first, *others = repeats
    prior = -0.5 * (np.log(_TRIED / WANDER) / np.log(PRIOR_FACTOR)) ** 2
    likelihood = prior + sum(_log_likelihood(other, first) for other in others)
    return float(_TRIED[int(np.argmax(likelihood))])


def _log_likelihood(run: Curve, against: Curve) -> np.ndarray:
    """Return the log likelihood of each tried walk, with level and noise at their best for each."""
    series, residual = residual_series(binned(run), reference_of(against))
    bins = len(series)
    if bins < _FEWEST_BINS:
        raise CurveError(run.run, f"{bins} bins after the start of alignment; need {_FEWEST_BINS}.", "log more often")
    weight = np.sqrt(series.count)
    whole, _ = np.linalg.qr(weight[:, None], mode="complete")
    free = whole[:, 1:].T  # what a level does not change
    time = series.fraction - series.fraction[0]
    walk = free @ (np.minimum.outer(time, time) * np.outer(weight, weight)) @ free.T
    values, vectors = np.linalg.eigh(walk)
    squares = (vectors.T @ (free @ (weight * residual))) ** 2
    found = np.full(len(_TRIED), -np.inf)
    for noise in np.geomspace(1e-4, 1.0, 121) ** 2:
        variance = noise + _TRIED[:, None] ** 2 * np.maximum(values, 0.0)
        found = np.maximum(found, -0.5 * (np.log(variance) + squares / variance).sum(axis=1))
    return found
