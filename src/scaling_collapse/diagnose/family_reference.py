"""Which runs of a family a run can be held against: finished ones of smaller size, trained alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from scaling_collapse.curves.curve import Curve
from scaling_collapse.diagnose.reference import Reference, pooled, reference_of
from scaling_collapse.predict.match import TOLERATED_RATIO


def smaller_reference(run: Curve, others: Sequence[Curve]) -> Reference | None:
    """Return the mean of the smaller runs that were trained alike; None without any."""
    smaller = smaller_runs(run, others)
    return pooled([reference_of(other, run) for other in smaller]) if smaller else None


def smaller_runs(run: Curve, others: Sequence[Curve]) -> list[Curve]:
    """Return those of `others` that are smaller than `run` and were trained alike.

    Alike: the same schedule, tokens per parameter and tau apart by no more than a prediction tolerates, finished, and
    not restarted. That is what whoever trains a family has when its larger sizes are on their way (section 7 takes
    the 500M run for the 1.8B one).
    """
    return [other for other in others if _is_alike(run, other)]


def _is_alike(run: Curve, other: Curve) -> bool:
    return bool(
        other.finished
        and not other.restart
        and other.size_params < run.size_params
        and other.facts.get("schedule") == run.facts.get("schedule")
        and all(
            1 / TOLERATED_RATIO <= ours / theirs <= TOLERATED_RATIO
            for ours, theirs in ((run.tpp, other.tpp), (run.tau, other.tau))
        )
    )


def same_schedule(one: Curve, other: Curve) -> bool:
    """Whether two runs have the same schedule, as far as it is known of both."""
    kinds = [str(curve.facts.get("schedule") or "") for curve in (one, other)]
    return not all(kinds) or kinds[0] == kinds[1]


def nearest_first(run: Curve, others: Sequence[Curve]) -> list[Curve]:
    """Return the `others` of the same schedule, but not the run itself: nearest in tokens per parameter and tau first.

    What a prediction tolerates, and what is not known, is no distance. Among equals the nearest size comes first; where
    the run's own is not known, the largest.
    """
    usable = [other for other in others if other.run != run.run and same_schedule(run, other)]
    return sorted(usable, key=partial(_distance, run))


def _distance(run: Curve, other: Curve) -> tuple[float, float]:
    apart = _apart(run.tpp / other.tpp) + _apart(run.tau / other.tau)
    size = abs(_log(run.size_params / other.size_params))
    if not math.isfinite(size):
        size = -other.size_params if math.isfinite(other.size_params) else math.inf
    return apart, size


def _apart(ratio: float) -> float:
    """Return how far a ratio lies outside of what is tolerated; 0 where it is not known."""
    distance = abs(_log(ratio))
    return distance if distance > math.log(TOLERATED_RATIO) else 0.0


def _log(ratio: float) -> float:
    return math.log(ratio) if ratio > 0 and math.isfinite(ratio) else math.nan
