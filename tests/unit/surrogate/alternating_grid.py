"""The paper's fit as it is described (section 2), to compare with: alternating grids over (b_c, b_e) and (q_c, q_e).

Each pass tries all pairs of one law with the other law fixed; passes alternate until nothing changes. `levels` above 1
then repeat the same on a finer grid around the best pair, which the paper does not mention.
"""

from __future__ import annotations

import numpy as np

from scaling_collapse.surrogate.data import CurveSet

#: Ranges of b_c, b_e, q_c, q_e; the coefficients are spaced evenly in their logarithm.
RANGES = {"b_c": (0.01, 1.0), "b_e": (-1.0, 1.0), "q_c": (0.1, 30.0), "q_e": (-1.0, 1.0)}


def fit(curves: CurveSet, points: int = 41, levels: int = 1, shrink: float = 0.2) -> tuple[dict[str, float], float]:
    """Return the best constants and their objective, the mean over curves of the mean |l_hat - l|."""
    limits = {n: (np.log(np.array(r)) if n.endswith("_c") else np.array(r)) for n, r in RANGES.items()}
    best = {name: float(ends.mean()) for name, ends in limits.items()}
    objective = np.inf
    for level in range(levels):
        half = {name: (ends[1] - ends[0]) / 2 * shrink**level for name, ends in limits.items()}
        centre = dict(best)
        axes = {n: np.linspace(centre[n] - half[n], centre[n] + half[n], points) for n in best}
        while True:
            before = dict(best)
            objective = best_b(curves, best, axes, objective)
            objective = best_q(curves, best, axes, objective)
            if best == before:
                break
    return {n: float(np.exp(v)) if n.endswith("_c") else v for n, v in best.items()}, objective


def best_b(curves: CurveSet, best: dict[str, float], axes: dict[str, np.ndarray], objective: float) -> float:
    """Search b_c and b_e with q fixed; `best` is changed in place."""
    q = np.exp(best["q_c"] + best["q_e"] * np.log(curves.tpp))[:, None]
    decay, term = (1.001 / (curves.t_hat + 0.001)) ** 0.05, (curves.rate + 0.1) ** q
    end = (curves.end_rate[:, None] + 0.1) ** q
    for b_c in axes["b_c"]:
        for b_e in axes["b_e"]:
            b = np.exp(b_c + b_e * np.log(curves.tau))[:, None]
            value = float(np.abs((decay + b * term) / (1 + b * end) - curves.loss).mean())
            if value < objective:
                objective = value
                best.update(b_c=float(b_c), b_e=float(b_e))
    return objective


def best_q(curves: CurveSet, best: dict[str, float], axes: dict[str, np.ndarray], objective: float) -> float:
    """Search q_c and q_e with b fixed; `best` is changed in place."""
    b = np.exp(best["b_c"] + best["b_e"] * np.log(curves.tau))[:, None]
    decay = (1.001 / (curves.t_hat + 0.001)) ** 0.05
    log_rate, log_end = np.log(curves.rate + 0.1), np.log(curves.end_rate[:, None] + 0.1)
    for q_c in axes["q_c"]:
        for q_e in axes["q_e"]:
            q = np.exp(q_c + q_e * np.log(curves.tpp))[:, None]
            l_hat = (decay + b * np.exp(q * log_rate)) / (1 + b * np.exp(q * log_end))
            value = float(np.abs(l_hat - curves.loss).mean())
            if value < objective:
                objective = value
                best.update(q_c=float(q_c), q_e=float(q_e))
    return objective
