"""The fit as a problem of numerical optimisation: parameters, objective, gradient.

Parameters are logarithms, taken at the centre of the data (the geometric means of tau and TPP over the runs), where
levels and exponents of the laws do not trade against each other:

    log b = b_c' + b_e*log(tau/tau0) + b_tpp*log(TPP/TPP0),   log q likewise,   log m,   log e2

Arrays: R runs, G points, P parameters that are fitted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from scaling_collapse.errors import CurveError
from scaling_collapse.surrogate.data import CurveSet
from scaling_collapse.surrogate.form import CONSTANTS, Form, Surrogate, log_decay, slopes

#: Which constants are held as logarithms; the others are exponents of tau or TPP.
LOGARITHMS = ("b_c", "q_c", "m", "e2")

#: What each constant moves: b, q, m or e2; and by which variable an exponent multiplies.
MOVES = {name: name[0] if name[0] in "bq" else name for name in CONSTANTS}
VARIABLE = {"b_e": "tau", "q_tau": "tau", "q_e": "tpp", "b_tpp": "tpp"}


@dataclass(frozen=True)
class Objective:
    """What is minimised: the mean over runs and points of rho(residual), rho(r) = sqrt(r^2 + s^2) - s.

    "mae" is the paper's (section 2): residual l_hat - l and a `scale` s so small that rho is |r|. "robust" takes the
    residual log(l_hat/l), and s is the size [relative] up to which it counts as noise (a pseudo-Huber, or soft L1).
    """

    kind: Literal["mae", "robust"] = "mae"
    scale: float = 1e-6

    def __post_init__(self) -> None:
        if not (np.isfinite(self.scale) and self.scale > 0):
            raise CurveError("surrogate fit", f"the objective's scale is {self.scale}; must be positive and finite.")


MAE = Objective()

#: 0.5% of the loss is about the noise of a normalised curve of small models (docs/lab-notebook.md, 6).
ROBUST = Objective("robust", 0.005)


@dataclass(frozen=True)
class Problem:
    """Curves, form and weights of runs (R,) with mean 1. A parameter vector holds the fitted constants, in order."""

    curves: CurveSet
    form: Form
    weights: np.ndarray

    @cached_property
    def distances(self) -> dict[str, np.ndarray]:
        """log(tau/tau0) and log(TPP/TPP0) of each run."""
        logs = {"tau": np.log(self.curves.tau), "tpp": np.log(self.curves.tpp)}
        return {name: values - values.mean() for name, values in logs.items()}

    @cached_property
    def decay(self) -> np.ndarray:
        """log((1+e1)/(t+e1))."""
        return log_decay(self.curves.t_hat)

    @cached_property
    def fixed_logs(self) -> tuple[np.ndarray, np.ndarray]:
        """log(eta+e2) along each run (R, G) and at its end (R,), for the e2 of the form's base."""
        return self._logs(self.form.base.e2)

    def position(self, surrogate: Surrogate) -> dict[str, float]:
        """Return all constants of `surrogate` as parameters, at this problem's centre."""
        centre = {"tau": np.exp(np.log(self.curves.tau).mean()), "tpp": np.exp(np.log(self.curves.tpp).mean())}
        levels = {"b_c": float(surrogate.b(**centre)), "q_c": float(surrogate.q(**centre))}
        values = {name: levels.get(name, getattr(surrogate, name)) for name in CONSTANTS}
        with np.errstate(divide="ignore"):  # b = 0, without the schedule term, lies at minus infinity
            return {name: float(np.log(v)) if name in LOGARITHMS else v for name, v in values.items()}

    @cached_property
    def base(self) -> dict[str, float]:
        """Parameters of the form's base."""
        return self.position(self.form.base)

    def vector(self, surrogate: Surrogate) -> np.ndarray:
        """Return the fitted parameters of `surrogate`, shape (P,)."""
        position = self.position(surrogate)
        return np.array([position[name] for name in self.form.fitted], dtype=float)

    def surrogate(self, parameters: np.ndarray) -> Surrogate:
        """Return the constants that `parameters` (P,) stand for."""
        full = self._full(parameters)
        tau0, tpp0 = np.log(self.curves.tau).mean(), np.log(self.curves.tpp).mean()
        full["b_c"] -= full["b_e"] * tau0 + full["b_tpp"] * tpp0
        full["q_c"] -= full["q_tau"] * tau0 + full["q_e"] * tpp0
        return Surrogate(**{n: float(np.exp(v)) if n in LOGARITHMS else float(v) for n, v in full.items()})

    def l_and_slopes(
        self, parameters: np.ndarray, derivatives: bool = True
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Return l_RG, and its derivatives by log b, log q, log m, log e2 as far as the fit moves them."""
        full, d = self._full(parameters), self.distances
        b_R = np.exp(full["b_c"] + full["b_e"] * d["tau"] + full["b_tpp"] * d["tpp"])
        q_R = np.exp(full["q_c"] + full["q_tau"] * d["tau"] + full["q_e"] * d["tpp"])
        wanted = {MOVES[name] for name in self.form.fitted} if derivatives else ()
        m, e2 = float(np.exp(full["m"])), float(np.exp(full["e2"]))
        log_rate, log_end = self._logs(e2) if "e2" in self.form.fitted else self.fixed_logs
        return slopes(self.decay, log_rate, log_end, b_R, q_R, m, e2, wanted)

    def value_and_gradient(self, parameters: np.ndarray, objective: Objective) -> tuple[float, np.ndarray]:
        """Return the objective and its gradient (P,)."""
        l_RG, by = self.l_and_slopes(parameters)
        residual = l_RG - self.curves.loss
        if objective.kind == "robust":
            residual = np.log(l_RG / self.curves.loss)
        distance = np.sqrt(residual**2 + objective.scale**2)
        pull = residual / distance / l_RG if objective.kind == "robust" else residual / distance
        share_R = self.weights / l_RG.size
        value = float(share_R @ (distance.sum(axis=1) - objective.scale * l_RG.shape[1]))
        pulls_R = {moved: share_R * np.einsum("rg,rg->r", pull, slope) for moved, slope in by.items()}
        gradient = [pulls_R[MOVES[name]] @ self._factor(name) for name in self.form.fitted]
        return value, np.array(gradient, dtype=float)

    def jacobian(self, parameters: np.ndarray) -> np.ndarray:
        """Return the derivatives of l by the parameters, J_RGP."""
        l_RG, by = self.l_and_slopes(parameters)
        columns = [by[MOVES[name]] * self._factor(name)[:, None] for name in self.form.fitted]
        return np.stack(columns, axis=-1) if columns else np.zeros((*l_RG.shape, 0))

    def with_weights(self, weights: np.ndarray) -> Problem:
        """Return the problem with other weights of the runs, scaled to mean 1."""
        return replace(self, weights=weights / weights.mean())

    def thinned(self, points: int) -> Problem:
        """Return the problem on about `points` evenly spaced points of each curve, the last one included."""
        last = len(self.curves.t_hat) - 1
        stride = max(1, last // points)
        return replace(self, curves=self.curves.at_points(slice(last % stride, None, stride)))

    def _logs(self, e2: float) -> tuple[np.ndarray, np.ndarray]:
        return np.log(self.curves.rate + e2), np.log(self.curves.end_rate + e2)

    def _full(self, parameters: np.ndarray) -> dict[str, float]:
        return self.base | dict(zip(self.form.fitted, map(float, parameters), strict=True))

    def _factor(self, name: str) -> np.ndarray:
        """Return d(log b or log q or ...)/d(parameter) of each run."""
        return self.distances[VARIABLE[name]] if name in VARIABLE else np.ones(len(self.curves.tau))


def problem_of(curves: CurveSet, form: Form) -> Problem:
    """Return the problem of fitting `form` to `curves`, each of the same weight."""
    return Problem(curves, form, np.ones(len(curves.runs)))
