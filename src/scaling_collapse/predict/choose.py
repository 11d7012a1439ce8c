"""The choice among the methods, by what they would have done: on the part itself and on finished siblings.

A method's score is the mean square of its errors in units of the kriged standard deviation. Before any evidence it is
the score that the method has at `cpu` scale, which counts as much as PRIOR_WEIGHT siblings; so a method must earn its
place, and one lucky hit does not win. The square root of the score widens the method's interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scaling_collapse.predict.estimate import Estimates
from scaling_collapse.predict.methods import AFFINE, KRIGING, L1, LEAST_SQUARES, METHODS, POWER_LAW, RATIO

#: Root mean square error of each method in kriged standard deviations: the five matched families of `cpu` scale,
#: training and validation curves, 20 to 80% of training.
PRIOR_ERROR = {KRIGING: 1.1, L1: 1.2, LEAST_SQUARES: 1.2, RATIO: 1.2, AFFINE: 2.2, POWER_LAW: 11.0}

#: What the prior counts for, in siblings.
PRIOR_WEIGHT = 4.0

#: What all back-tests on the part together count for: they share their points, and at `cpu` scale a weight of 1 or
#: more makes the choice worse than none.
PART_WEIGHT = 0.5

#: The mean error of n siblings is taken off, shrunk by n/(n + this): errors of one template are alike. At `cpu` scale
#: that lowers the error of matched families from 0.55 to 0.51% (20-30%) and from 0.59 to 0.44% (40-50%).
SHRINKAGE = 1.0


@dataclass(frozen=True)
class Sibling:
    """A finished run that was predicted from the same template at the same progress."""

    run: str
    size_params: float
    final_loss: float
    estimates: Estimates

    def error(self, method: str) -> float:
        """Return log(predicted/true)."""
        value = self.estimates.values[method]
        return float(np.log(value / self.final_loss)) if value > 0 else float("nan")


@dataclass(frozen=True)
class Verdict:
    """A method's value after correction [nats], its relative standard deviation, score, and siblings used."""

    method: str
    value: float
    deviation: float
    score: float
    correction: float
    siblings: int


def verdicts(estimates: Estimates, siblings: Sequence[Sibling] = ()) -> dict[str, Verdict]:
    """Return a verdict on each method that has a value."""
    ordered = sorted(siblings, key=lambda sibling: sibling.size_params)
    found = {method: _verdict(method, estimates, ordered) for method in METHODS}
    return {method: verdict for method, verdict in found.items() if verdict.value > 0}


def choose(candidates: dict[str, Verdict]) -> Verdict:
    """Return the candidate of the lowest score; of equal ones the first in the order of METHODS."""
    return min(candidates.values(), key=lambda verdict: verdict.score)


def reason(chosen: Verdict, candidates: dict[str, Verdict], estimates: Estimates) -> str:
    """Say in words why `chosen` was chosen."""
    tests = len(estimates.back_tests)
    told = f"{tests} back-test(s) on the part and {chosen.siblings} finished sibling(s)"
    others = [verdict for verdict in candidates.values() if verdict.method != chosen.method]
    text = f"{chosen.method} has the lowest expected error, {np.sqrt(chosen.score):.2f} of the kriged deviation"
    if others:
        second = choose({verdict.method: verdict for verdict in others})
        text += f" ({second.method}: {np.sqrt(second.score):.2f})"
    shift = f"; siblings correct it by {100 * -chosen.correction:+.2f}%" if chosen.siblings else ""
    return f"{text}, by {told}{shift}"


def _verdict(method: str, estimates: Estimates, siblings: Sequence[Sibling]) -> Verdict:
    squares, total, used = 0.0, 0.0, 0
    for sibling in siblings:
        error = sibling.error(method)
        if np.isfinite(error):
            squares += ((error - total / (used + SHRINKAGE)) / sibling.estimates.deviation) ** 2
            total, used = total + error, used + 1
    tests = [test[method] ** 2 for test in estimates.back_tests if method in test]
    tests = [square for square in tests if np.isfinite(square)]
    weight = PRIOR_WEIGHT + used + (PART_WEIGHT if tests else 0.0)
    evidence = squares + (PART_WEIGHT * float(np.mean(tests)) if tests else 0.0)
    score = (PRIOR_WEIGHT * PRIOR_ERROR[method] ** 2 + evidence) / weight
    correction = total / (used + SHRINKAGE)
    value = estimates.values[method] * float(np.exp(-correction))
    return Verdict(method, value, float(np.sqrt(score)) * estimates.deviation, score, correction, used)
