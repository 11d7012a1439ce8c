"""Which other runs a run is held against, and which one it is predicted from."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from scaling_collapse.curves.curve import Curve
from scaling_collapse.diagnose.family_reference import nearest_first
from scaling_collapse.diagnose.reference import Reference, pooled, reference_of
from scaling_collapse.errors import CurveError
from scaling_collapse.predict.template import Template, template_of

#: More runs than this are not averaged: the walk against a mean of m has (1 + 1/m)/2 of a pair's variance.
MOST_REFERENCES = 4

OWN_REFERENCE = "name a finished run of its recipe, or a table with one: --reference RUN_OR_FILE"


def family_reference(
    curve: Curve, others: Sequence[Curve], alike: Collection[str] = ()
) -> tuple[Reference, tuple[str, ...]]:
    """Return the mean of the finished `others` that makes the smallest faults of `curve` seen, and their names.

    The nearest in tau and tokens per parameter come first. Where these are not known of either run, only runs `alike`
    count: those that were measured to collapse. Raises CurveError where none is left.
    """
    used: list[tuple[Reference, str]] = []
    problem = "there is no other finished run of its schedule"
    for other in nearest_first(curve, others):
        if len(used) == MOST_REFERENCES:
            break
        if not _both_known(curve, other) and other.run not in alike:
            problem = "tau and tokens per parameter are not known, and its curves do not collapse with others"
            continue
        try:
            used.append((reference_of(other, curve), other.run))
        except CurveError as error:
            problem = error.problem.rstrip(".")
    if not used:
        raise CurveError(curve.run, problem, OWN_REFERENCE)
    used.sort(key=lambda pair: pair[0].wander)
    pools = [pooled([reference for reference, _ in used[:number]]) for number in range(1, len(used) + 1)]
    best = min(range(len(pools)), key=lambda index: pools[index].wander)
    return pools[best], tuple(name for _, name in used[: best + 1])


def family_template(curve: Curve, others: Sequence[Curve]) -> Template:
    """Return the finished run of the same schedule that is nearest in tau, tokens per parameter and size as template.

    Raises CurveError where there is none.
    """
    nearest = next(iter(nearest_first(curve, others)), None)
    if nearest is None:
        raise CurveError(curve.run, "there is no finished run of its schedule to predict it from", OWN_REFERENCE)
    return template_of(nearest)


def _both_known(curve: Curve, other: Curve) -> bool:
    return bool(np.isfinite([curve.tau, curve.tpp, other.tau, other.tpp]).all())
