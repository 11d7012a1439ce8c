"""Which runs of a family a run can be held against: finished ones of smaller size, trained alike."""

from __future__ import annotations

from collections.abc import Sequence

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
