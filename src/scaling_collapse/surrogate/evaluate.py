"""How well a surrogate describes curves: errors of each run over ranges of training, and means by size or band."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from scaling_collapse.curves.grid import FIRST_FRACTION
from scaling_collapse.curves.measures import PERCENT
from scaling_collapse.errors import CurveError
from scaling_collapse.surrogate.data import CurveSet
from scaling_collapse.surrogate.form import Surrogate, shape

if TYPE_CHECKING:
    import pandas as pd

#: Ranges of t_hat: the paper's (section 2), and its early, middle and late part.
RANGES = ((FIRST_FRACTION, 1.0), (FIRST_FRACTION, 0.4), (0.4, 0.8), (0.8, 1.0))


def predicted(surrogate: Surrogate, curves: CurveSet) -> np.ndarray:
    """Return the surrogate's l_RG of each run at the points of the set."""
    b_R, q_R = surrogate.b(curves.tau, curves.tpp), surrogate.q(curves.tau, curves.tpp)
    return shape(curves.t_hat, curves.rate, curves.end_rate, b_R, q_R, surrogate.m, surrogate.e2)


def mae_percent(surrogate: Surrogate, curves: CurveSet) -> np.ndarray:
    """Return the mean over points of |l_hat - l| of each run, in percent of L(T) (section 2), shape (R,)."""
    return np.asarray(PERCENT * np.abs(predicted(surrogate, curves) - curves.loss).mean(axis=1))


def held_out_errors(
    surrogate: Surrogate, curves: CurveSet, ranges: Sequence[tuple[float, float]] = RANGES
) -> pd.DataFrame:
    """Return one row a run and range of t_hat: run, size, tpp, tau, t_hat_from, t_hat_to, and errors of l_hat.

    `mae_percent` = mean |l_hat - l|, `bias_percent` = mean l_hat - l, `max_percent` = largest |l_hat - l|, all in
    percent of L(T), over the set's points in the range, ends included. Raises CurveError for a range without points.
    """
    import pandas as pd

    error_RG = PERCENT * (predicted(surrogate, curves) - curves.loss)
    parts = []
    for low, high in ranges:
        inside = (curves.t_hat >= low - 1e-9) & (curves.t_hat <= high + 1e-9)
        if not inside.any():
            raise CurveError("surrogate", f"no point of the curves lies in t_hat {low:g} to {high:g}.", "widen it")
        part = error_RG[:, inside]
        columns: dict[str, Any] = {"run": curves.runs, "size": curves.sizes, "tpp": curves.tpp, "tau": curves.tau}
        columns |= {"t_hat_from": low, "t_hat_to": high, "mae_percent": np.abs(part).mean(axis=1)}
        columns |= {"bias_percent": part.mean(axis=1), "max_percent": np.abs(part).max(axis=1)}
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def errors_by(errors: pd.DataFrame, by: Sequence[str] = ("size", "tpp")) -> pd.DataFrame:
    """Return means over runs of `held_out_errors` by `by` and range: runs, mae_percent, bias_percent; the largest max.

    `worst_mae_percent` is the MAE of the worst run.
    """
    groups = errors.groupby([*by, "t_hat_from", "t_hat_to"], sort=False, observed=True)
    return groups.agg(
        runs=("run", "size"),
        mae_percent=("mae_percent", "mean"),
        worst_mae_percent=("mae_percent", "max"),
        bias_percent=("bias_percent", "mean"),
        max_percent=("max_percent", "max"),
    ).reset_index()
