"""Curves drawn from the surrogate by the paper's formula, written out once more and on its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scaling_collapse.surrogate.data import CurveSet

PUBLIC = Path(__file__).parents[4] / "shared" / "curves"  # real public curves, where this checkout has them

#: Constants near those of small models.
TRUTH = {"b_c": 0.12, "b_e": -0.29, "q_c": 3.1, "q_e": -0.46}
TPP = (20.0, 80.0, 200.0, 320.0, 1280.0)  # Table 4


def linear_rate(t: np.ndarray) -> np.ndarray:
    """Warm-up of 10%, then linear to (almost) zero."""
    return np.minimum(t / 0.1, (1.001 - t) / 0.901)


def equation_4(t: np.ndarray, rate: np.ndarray, b: float, q: float, m: float = 0.05, e2: float = 0.1) -> np.ndarray:
    """The paper's l_hat of one run; the last point is the end of training."""
    raw = np.array([(1.001 / (t_i + 0.001)) ** m + b * (rate_i + e2) ** q for t_i, rate_i in zip(t, rate, strict=True)])
    return raw / raw[-1]


def drawn_curves(
    runs: int = 30,
    points: int = 81,
    noise: float = 0.0,
    seed: int = 0,
    tau: np.ndarray | None = None,
    tpp: np.ndarray | None = None,
    **constants: float,
) -> CurveSet:
    """Curves of known constants: each run has noise of its points, and of its shape (of the same size)."""
    rng = np.random.default_rng(seed)
    truth = TRUTH | constants
    taus = np.exp(rng.uniform(np.log(0.03), 0, runs)) if tau is None else tau
    tpps = rng.choice(TPP, runs) if tpp is None else tpp
    t = np.linspace(0.2, 1, points)
    rate = linear_rate(t)
    loss = []
    for tau_r, tpp_r in zip(taus, tpps, strict=True):
        b = truth["b_c"] * tau_r ** truth["b_e"] * tpp_r ** truth.get("b_tpp", 0.0)
        q = truth["q_c"] * tpp_r ** truth["q_e"] * tau_r ** truth.get("q_tau", 0.0)
        exact = equation_4(t, rate, b, q, truth.get("m", 0.05), truth.get("e2", 0.1))
        loss.append(exact + noise * rng.standard_normal() * (1 - t) + noise * rng.standard_normal(points))
    names = tuple(f"run{i}" for i in range(len(taus)))
    rates = np.tile(rate, (len(taus), 1))
    return CurveSet(names, ("111M",) * len(taus), taus, tpps, t, np.array(loss), rates, rates[:, -1])


def table_rows(run: str, loss: np.ndarray, split: str = "train", **columns: Any) -> pd.DataFrame:
    """Rows of the tidy table: 1,000 tokens a step, 20 tokens per parameter, tau .2 by its factors."""
    steps = np.arange(1, len(loss) + 1)
    total = 1000.0 * len(loss)
    facts = {"size_params": total / 20, "tokens_total": total, "batch_tokens": 1000.0, "lr_peak": 0.01}
    facts |= {"weight_decay": 1000 / (0.01 * 0.2 * total), "schedule": "linear_to_zero", "seed": 0}
    facts |= {"lr": 0.02 * linear_rate(steps / len(loss))} | columns
    return pd.DataFrame({"run": run, "step": steps, "tokens": steps * 1000.0, "loss": loss, "split": split} | facts)
