"""Fitting the surrogate to curves: many starts, the paper's objective or a robust one, and honest warnings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from scaling_collapse.curves.measures import PERCENT
from scaling_collapse.errors import CurveError
from scaling_collapse.surrogate.data import CurveSet
from scaling_collapse.surrogate.evaluate import mae_percent
from scaling_collapse.surrogate.form import PAPER, Form, Surrogate
from scaling_collapse.surrogate.minimise import ROUNDINGS, Minimum, Prior, bounds_of, minimise
from scaling_collapse.surrogate.problem import LOGARITHMS, MAE, Objective, Problem, problem_of

#: Starts of a fit, the first one at the usual values and the others drawn around them.
STARTS = 8

#: Starts run on about this many points of each curve; the best one is finished on all.
COARSE_POINTS = 40

#: Curves of more than twice as many points are minimised on about so many before all.
FINE_POINTS = 400

#: Starts whose objectives differ by less [relative] count as equally good.
EQUALLY_GOOD = 0.01

#: Equally good starts disagree when a parameter differs by more than this (log of a level, or an exponent).
DIFFERENT = 0.1

#: tau and TPP may lie outside what was fitted by this [relative], as printed and rounded values do.
ROUNDED = 0.01

#: Usual values, where the first start lies, and how far around them the others are drawn: b near 0.15, q near 1.
_USUAL = {"b_c": -1.9, "q_c": 0.0, "b_e": -0.3, "q_e": -0.4, "m": -3.0, "e2": -2.3}
_AROUND = {"b_c": 1.5, "q_c": 1.2, "m": 0.7, "e2": 0.7}
_AROUND_EXPONENT = 0.5


@dataclass(frozen=True)
class Start:
    """Where one start ended on the coarse points: its constants and its objective [percent of L(T)]."""

    surrogate: Surrogate
    objective_percent: float


@dataclass(frozen=True)
class SurrogateFit:
    """A fitted surrogate. `run_mae_percent` (R,): mean |l_hat - l| over t_hat of each of `runs`, in percent of L(T).

    `objective_percent` is their mean for the paper's objective; `prior` the penalty that took part, if any.
    `starts` are ordered by objective; ranges are those of the fitted runs; `warnings` says in words what speaks
    against trusting the constants.
    """

    surrogate: Surrogate
    form: Form
    objective: Objective
    objective_percent: float
    runs: tuple[str, ...]
    run_mae_percent: np.ndarray
    starts: tuple[Start, ...]
    warnings: tuple[str, ...]
    tau_range: tuple[float, float]
    tpp_range: tuple[float, float]
    prior: Prior | None = None

    @property
    def mae_percent(self) -> float:
        """Mean over runs of their MAE [percent]: the paper's number in Tables 11 and 12."""
        return float(self.run_mae_percent.mean())

    def range_notes(self, tau: float, tpp: float) -> Iterator[str]:
        """Yield a note for each of tau and TPP that lies outside what was fitted."""
        return range_notes(tau, tpp, self.tau_range, self.tpp_range)


def range_notes(
    tau: float, tpp: float, tau_range: tuple[float, float], tpp_range: tuple[float, float]
) -> Iterator[str]:
    """Yield a note for each of tau and TPP that lies outside its range."""
    for name, value, (low, high) in (("tau", tau, tau_range), ("TPP", tpp, tpp_range)):
        if not low * (1 - ROUNDED) <= value <= high * (1 + ROUNDED):
            yield f"{name} {value:.3g} lies outside the {low:.3g} to {high:.3g} of the fit"


def fit_surrogate(
    curves: CurveSet,
    form: Form = PAPER,
    objective: Objective = MAE,
    prior: Prior | None = None,
    starts: int = STARTS,
    seed: int = 0,
) -> SurrogateFit:
    """Fit the constants of `form` that it marks as fitted (section 2).

    All starts are minimised on coarse points, the best one is finished on all points. Deterministic in `seed`.
    Raises CurveError for fewer than one start, or fewer values (runs times points) than constants.
    """
    problem = problem_of(curves, form)
    if starts < 1 or curves.loss.size < len(form.fitted):
        raise CurveError(
            "surrogate fit", f"{starts} starts, {curves.loss.size} values for {len(form.fitted)} constants."
        )
    coarse = problem.thinned(COARSE_POINTS)
    ends = [minimise(coarse, start, objective, prior, ROUNDINGS[:2]) for start in _start_points(form, starts, seed)]
    ends.sort(key=lambda end: end.value)
    best = _finished(problem, ends[0].parameters, objective, prior)
    surrogate = problem.surrogate(best.parameters)
    run_mae = mae_percent(surrogate, curves)
    value = PERCENT * problem.value_and_gradient(best.parameters, objective)[0]
    return SurrogateFit(
        surrogate=surrogate,
        form=form,
        objective=objective,
        objective_percent=float(run_mae.mean()) if objective.kind == "mae" else value,
        runs=curves.runs,
        run_mae_percent=run_mae,
        starts=tuple(Start(coarse.surrogate(end.parameters), PERCENT * end.value) for end in ends),
        warnings=tuple(_notes(problem, best, ends)),
        tau_range=(float(curves.tau.min()), float(curves.tau.max())),
        tpp_range=(float(curves.tpp.min()), float(curves.tpp.max())),
        prior=prior,
    )


def _finished(problem: Problem, at: np.ndarray, objective: Objective, prior: Prior | None) -> Minimum:
    """Return the minimum on all points; long curves are first minimised on fewer of them."""
    if problem.curves.loss.shape[1] <= 2 * FINE_POINTS:
        return minimise(problem, at, objective, prior)
    near = minimise(problem.thinned(FINE_POINTS), at, objective, prior, ROUNDINGS[1:-1])
    return minimise(problem, near.parameters, objective, prior, ROUNDINGS[-1:])


def _start_points(form: Form, starts: int, seed: int) -> Iterator[np.ndarray]:
    """Yield parameter vectors: the usual values, then uniform draws around them."""
    rng = np.random.default_rng(seed)
    usual = np.array([_USUAL.get(name, 0.0) for name in form.fitted])
    around = np.array([_AROUND.get(name, _AROUND_EXPONENT) for name in form.fitted])
    yield usual
    for _ in range(starts - 1):
        yield usual + around * rng.uniform(-1, 1, len(usual))


def _notes(problem: Problem, best: Minimum, ends: Sequence[Minimum]) -> Iterator[str]:
    """Warn of few runs, of constants at their bounds, of starts that disagree."""
    names = problem.form.fitted
    if len(problem.curves.runs) < len(names):
        yield f"{len(problem.curves.runs)} run(s) for {len(names)} constants"
    for name, value, (low, high) in zip(names, best.parameters, bounds_of(names), strict=True):
        if min(value - low, high - value) < 1e-3:
            shown = float(np.exp(value)) if name in LOGARITHMS else value
            yield f"{name} stopped at its bound ({shown:.3g} at the centre of the data), so the data do not fix it"
    lowest = ends[0].value
    good = [end for end in ends if end.value <= (1 + EQUALLY_GOOD) * lowest + 1e-9]
    if 2 * len(good) < len(ends):
        yield f"only {len(good)} of {len(ends)} starts reached the lowest objective: there are other minima"
    if not names:
        return
    spans = np.ptp([end.parameters for end in good], axis=0)
    loose = [f"{name} by {span:.2g}" for name, span in zip(names, spans, strict=True) if span > DIFFERENT]
    if loose:
        yield f"starts disagree at objectives within {EQUALLY_GOOD:.0%}: {', '.join(loose)} (log or exponent)"
