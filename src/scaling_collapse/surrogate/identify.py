"""What the data can say about each constant: tau against TPP, and which constants to fit, to regularise or to fix.

Each constant's standard error (information.py), compared with the width of a prior around published constants, gives
one of three verdicts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from scaling_collapse.surrogate.data import CurveSet
from scaling_collapse.surrogate.fit import SurrogateFit
from scaling_collapse.surrogate.form import Form
from scaling_collapse.surrogate.information import information
from scaling_collapse.surrogate.minimise import bounds_of
from scaling_collapse.surrogate.per_curve import pearson
from scaling_collapse.surrogate.problem import LOGARITHMS, VARIABLE, Problem, problem_of

#: Standard deviations of the prior around published constants: a factor of 3 for levels, 0.3 for exponents (ours).
LEVEL_WIDTH, EXPONENT_WIDTH = float(np.log(3)), 0.3

#: An exponent whose variable differs by less than this (standard deviation of its log) over runs is fixed: 5%.
LEAST_SPREAD = 0.05

#: A constant is fixed when, all others known, the data still say this many times less than the prior.
HOPELESS = 10.0

#: tau and TPP count as confounded from this correlation of their logs on.
CONFOUNDED = 0.9

#: The information needs few points of each curve.
POINTS = 160

Verdict = Literal["fitted", "regularised", "fixed"]


@dataclass(frozen=True)
class Constant:
    """Verdict on one constant. `standard_error` is that of its log for a level; without information it is huge."""

    name: str
    verdict: Verdict
    standard_error: float
    reason: str


@dataclass(frozen=True)
class Identifiability:
    """What the data fix. `log_correlation` of log tau and log TPP over runs (NaN where one hardly varies).

    `slope`: tau ~ TPP^slope along the runs. `information`: square roots of the eigenvalues of the information in
    units of the prior's widths, descending: below 1 is a combination of constants that the prior knows better.
    `independent_points` of all runs together, see information.py.
    """

    log_correlation: float
    slope: float
    information: tuple[float, ...]
    constants: tuple[Constant, ...]
    independent_points: float

    @property
    def confounded(self) -> bool:
        """Whether tau and TPP vary together, so that their effects cannot be told apart."""
        return abs(self.log_correlation) >= CONFOUNDED

    def named(self, verdict: Verdict) -> tuple[str, ...]:
        """Return the names of the constants of one verdict."""
        return tuple(constant.name for constant in self.constants if constant.verdict == verdict)

    def lines(self) -> Iterator[str]:
        """Yield the findings in words."""
        yield f"correlation of log tau and log TPP over runs: {self.log_correlation:.2f}"
        if self.confounded:
            yield (
                f"tau and TPP are confounded (tau ~ TPP^{self.slope:.2f}): the constants hold along that line only; "
                "whether tau or TPP moves the curves is not in the data"
            )
        for constant in self.constants:
            yield f"{constant.name}: {constant.verdict} ({constant.reason})"


def identifiability(curves: CurveSet, fit: SurrogateFit) -> Identifiability:
    """Return what `curves` say about the constants of `fit`, which was fitted to them without a prior."""
    problem = problem_of(curves, fit.form).thinned(POINTS)
    parameters, width_P = problem.vector(fit.surrogate), prior_widths(fit.form)
    known = information(problem, parameters, width_P)
    edges = np.array(bounds_of(fit.form.fitted)).reshape(-1, 2)
    at_bound_P = np.abs(parameters[:, None] - edges).min(axis=1, initial=np.inf) < 1e-3
    tau, tpp = problem.distances["tau"], problem.distances["tpp"]
    vary = min(tau.std(), tpp.std()) >= LEAST_SPREAD
    return Identifiability(
        log_correlation=pearson(tau, tpp) if vary else float("nan"),
        slope=float(tau @ tpp / (tpp @ tpp)) if vary else float("nan"),
        information=tuple(float(value) for value in known.singular),
        constants=tuple(
            _judged(problem, *row)
            for row in zip(fit.form.fitted, width_P, known.marginal, known.conditional, at_bound_P, strict=True)
        ),
        independent_points=known.independent,
    )


def prior_widths(form: Form) -> np.ndarray:
    """Return the prior's widths of the fitted constants of a form, shape (P,)."""
    return np.array([LEVEL_WIDTH if name in LOGARITHMS else EXPONENT_WIDTH for name in form.fitted])


def _judged(problem: Problem, name: str, width: float, marginal: float, conditional: float, at_bound: bool) -> Constant:
    """Return the verdict; errors are in units of the prior's `width`, with the others unknown and known."""
    error, variable = marginal * width, VARIABLE.get(name)
    if variable is not None and (spread := float(problem.distances[variable].std())) < LEAST_SPREAD:
        return Constant(name, "fixed", error, f"{variable} varies by {spread:.1%} only over runs")
    if conditional > HOPELESS:
        return Constant(name, "fixed", error, "the curves hardly depend on it")
    known = f"standard error {error:.2g}, prior {width:.2g}"
    if at_bound:
        return Constant(name, "regularised", error, f"it runs to its bound; {known}")
    return Constant(name, "fitted" if marginal <= 1 else "regularised", error, known)
