"""Minimising the objective: one start, with bounds, the exact gradient, and a kink that is rounded less and less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from scaling_collapse.surrogate.problem import MAE, MOVES, VARIABLE, Objective, Problem

#: Bounds of the parameters; beyond them the schedule term is nothing, a constant, or a step.
BOUNDS = {"b": (-12.0, 5.0), "q": (-6.0, 3.5), "m": (-7.0, 1.0), "e2": (-7.0, 1.0), "exponent": (-3.0, 3.0)}

#: |r| is approached through sqrt(r^2 + s^2) - s with these s, relative to that of the objective; a search that is only
#: to find the right minimum takes the first ones, one that starts near it the last.
ROUNDINGS = (3000.0, 300.0, 30.0, 1.0)


@dataclass(frozen=True)
class Prior:
    """Penalty strength * sum(((parameter - centre)/width)^2)/2 on the fitted parameters; an infinite width is none."""

    centre: np.ndarray
    width: np.ndarray
    strength: float

    def value_and_gradient(self, parameters: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the penalty and its gradient."""
        steps = (parameters - self.centre) / self.width
        return 0.5 * self.strength * float(steps @ steps), self.strength * steps / self.width


@dataclass(frozen=True)
class Minimum:
    """Where a minimisation ended: parameters (P,), objective there (penalty included)."""

    parameters: np.ndarray
    value: float


def bounds_of(names: Sequence[str]) -> list[tuple[float, float]]:
    """Return the bounds of the parameters `names`."""
    return [BOUNDS["exponent" if name in VARIABLE else MOVES[name]] for name in names]


def minimise(
    problem: Problem,
    start: np.ndarray,
    objective: Objective = MAE,
    prior: Prior | None = None,
    roundings: Sequence[float] = ROUNDINGS,
) -> Minimum:
    """Return the minimum that L-BFGS reaches from `start` (P,), which is moved inside the bounds."""
    from scipy.optimize import minimize

    bounds = bounds_of(problem.form.fitted)
    low, high = np.array(bounds).reshape(-1, 2).T
    at = np.clip(start, low, high)

    def function(parameters: np.ndarray, scaled: Objective) -> tuple[float, np.ndarray]:
        value, gradient = problem.value_and_gradient(parameters, scaled)
        if prior is not None:
            penalty, pull = prior.value_and_gradient(parameters)
            value, gradient = value + penalty, gradient + pull
        return value, gradient

    for rounding in roundings if len(at) else ():
        scaled = replace(objective, scale=objective.scale * rounding) if objective.kind == "mae" else objective
        options = {"ftol": 1e-12, "gtol": 1e-8, "maxiter": 300}
        at = minimize(function, at, (scaled,), "L-BFGS-B", jac=True, bounds=bounds, options=options).x
        if objective.kind == "robust":
            break
    return Minimum(at, function(at, objective)[0])
