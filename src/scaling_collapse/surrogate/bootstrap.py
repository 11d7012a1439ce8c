"""Intervals of the constants by resampling runs: whole curves are drawn with replacement, and the fit is made again.

The points of a curve share its noise and its misfit, so runs are the units that are independent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from scaling_collapse.errors import CurveError
from scaling_collapse.surrogate.data import CurveSet
from scaling_collapse.surrogate.fit import SurrogateFit
from scaling_collapse.surrogate.form import Surrogate
from scaling_collapse.surrogate.minimise import ROUNDINGS, minimise
from scaling_collapse.surrogate.problem import VARIABLE, problem_of

#: Refits start at the fit itself, on about this many points of each curve.
POINTS = 160


@dataclass(frozen=True)
class Bootstrap:
    """Constants of each draw. `redrawn` counts draws without two values of tau or TPP, which were drawn again."""

    fit: SurrogateFit
    draws: tuple[Surrogate, ...]
    redrawn: int

    def interval(self, of: str | Callable[[Surrogate], float], level: float = 0.9) -> tuple[float, float]:
        """Return the percentile interval of a constant, or of any number that follows from the constants."""
        if not 0 < level < 1:
            raise CurveError("bootstrap", f"level {level}; must lie between 0 and 1.")
        values = [getattr(draw, of) if isinstance(of, str) else of(draw) for draw in self.draws]
        low, high = np.percentile(values, (50 * (1 - level), 50 * (1 + level)))
        return float(low), float(high)

    def intervals(self, level: float = 0.9) -> dict[str, tuple[float, float]]:
        """Return the intervals of all fitted constants."""
        return {name: self.interval(name, level) for name in self.fit.form.fitted}


def bootstrap_fit(curves: CurveSet, fit: SurrogateFit, draws: int = 200, seed: int = 0) -> Bootstrap:
    """Refit `fit` on `draws` resamples of the runs of `curves`, with its form, objective and prior.

    Deterministic in `seed`. Raises CurveError for fewer than two draws or runs, or a set of other runs than the fit's.
    """
    if draws < 2 or len(curves.runs) < 2:
        raise CurveError("bootstrap", f"{draws} draws of {len(curves.runs)} run(s); need two of each.")
    if curves.runs != fit.runs:
        raise CurveError("bootstrap", "these are not the runs of the fit.", "give the curves that were fitted")
    problem = problem_of(curves, fit.form).thinned(POINTS)
    start = problem.vector(fit.surrogate)
    counts = _counts(curves, fit.form.fitted, seed)
    made: list[Surrogate] = []
    redrawn = 0
    while len(made) < draws:
        count_R = next(counts)
        if count_R is None:
            redrawn += 1
            if redrawn > 100 * draws:
                raise CurveError("bootstrap", "resamples hardly ever hold two values of tau and of TPP.", "add runs")
            continue
        end = minimise(problem.with_weights(count_R), start, fit.objective, fit.prior, ROUNDINGS[1:-1])
        made.append(problem.surrogate(end.parameters))
    return Bootstrap(fit, tuple(made), redrawn)


def _counts(curves: CurveSet, fitted: tuple[str, ...], seed: int) -> Iterator[np.ndarray | None]:
    """Yield how often each run is drawn; None for a draw in which a fitted exponent has nothing to follow."""
    rng = np.random.default_rng(seed)
    values = {"tau": curves.tau, "tpp": curves.tpp}
    needed = [values[variable] for variable in {VARIABLE[name] for name in fitted if name in VARIABLE}]
    needed = [value_R for value_R in needed if np.ptp(value_R) > 0]
    runs = len(curves.runs)
    while True:
        count_R = np.bincount(rng.integers(runs, size=runs), minlength=runs).astype(float)
        usable = all(np.ptp(value_R[count_R > 0]) > 0 for value_R in needed)
        yield count_R if usable else None
