"""The best b and q of each curve by itself (Fig 22), and what the surrogate could reach at most (Table 12, oracle)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scaling_collapse.curves.measures import PERCENT
from scaling_collapse.surrogate.data import CurveSet
from scaling_collapse.surrogate.form import Form, Surrogate
from scaling_collapse.surrogate.minimise import minimise
from scaling_collapse.surrogate.problem import problem_of

#: Starts of each curve as (log b, log q): a schedule term that bends either way, and one nearly constant.
STARTS = ((-1.9, 0.0), (-0.7, -1.5), (-2.5, 0.7))


@dataclass(frozen=True)
class PerCurve:
    """Weight `b` and exponent `q` of the schedule term that fit each run best, and its MAE [percent of L(T)]: (R,)."""

    runs: tuple[str, ...]
    b: np.ndarray
    q: np.ndarray
    run_mae_percent: np.ndarray


def fit_per_curve(curves: CurveSet, base: Surrogate | None = None) -> PerCurve:
    """Minimise the mean |l_hat - l| of each run over its own b and q; m and e2 as in `base` (default: the paper's)."""
    form = Form(("b_c", "q_c"), base or Surrogate())
    rows = []
    for index in range(len(curves.runs)):
        problem = problem_of(curves.where(np.array([index])), form)
        best = min((minimise(problem, np.array(start)) for start in STARTS), key=lambda end: end.value)
        rows.append((*np.exp(best.parameters), PERCENT * best.value))
    b, q, mae = np.array(rows).T
    return PerCurve(curves.runs, b, q, mae)


def correlations(fits: PerCurve, curves: CurveSet) -> dict[str, float]:
    """Return Pearson's r of b and q with tau and TPP over runs, the paper's four numbers (section 2), by "b, tau" etc.

    NaN where a variable is the same in all runs.
    """
    values = {"b": fits.b, "q": fits.q, "tau": curves.tau, "TPP": curves.tpp}
    return {f"{of}, {on}": pearson(values[of], values[on]) for of in ("b", "q") for on in ("tau", "TPP")}


def pearson(first: np.ndarray, second: np.ndarray) -> float:
    """Return Pearson's correlation of two vectors; NaN where one of them does not vary."""
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    return float(np.corrcoef(first, second)[0, 1])
