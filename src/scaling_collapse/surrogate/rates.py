"""The learning rate of a run of the tidy table: as logged, else by the name of its schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import numpy as np

from scaling_collapse.config.recipe import Schedule, ScheduleKind
from scaling_collapse.curves.curve import FINISHED
from scaling_collapse.errors import CurveError
from scaling_collapse.surrogate.schedule import RateCurve, logged_rates, rates_of

if TYPE_CHECKING:
    import pandas as pd

#: A log of fewer points does not show the course of a learning rate.
FEWEST_POINTS = 5


def rates_of_run(run: str, rows: pd.DataFrame) -> RateCurve:
    """Return the learning rate of one run over its whole training, relative to its peak, from all its `rows`.

    The log is taken where it reaches the end of training. Otherwise the kind in column `schedule` decides, with the
    warm-up that the log shows, else that of config/recipe. Raises CurveError where neither is known.
    """
    t_hat, lr = _log(rows)
    if len(t_hat) >= FEWEST_POINTS and t_hat[-1] >= FINISHED:
        return logged_rates(t_hat, lr)
    kind = str(rows["schedule"].iloc[0])
    if kind not in get_args(ScheduleKind):
        known = ", ".join(get_args(ScheduleKind))
        raise CurveError(
            run,
            f"its learning rate is not logged to the end, and its schedule {kind!r} is not one that is known.",
            f"give column lr, or column schedule as one of {known}",
        )
    schedule = Schedule.model_validate({"kind": kind})
    if len(t_hat) and 0 < lr.argmax() < len(lr) - 1:
        schedule = schedule.model_copy(update={"warmup_fraction": float(t_hat[lr.argmax()])})
    return rates_of(schedule)


def _log(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return fractions of training and logged learning rates, of the split that has most of them."""
    logged = rows[rows["lr"].notna()]
    if logged.empty:
        return np.empty(0), np.empty(0)
    split = logged["split"].value_counts().index[0]
    logged = logged[logged["split"] == split]
    t_hat = (logged["tokens"] / logged["tokens_total"]).to_numpy(dtype=float, na_value=np.nan)
    if not np.isfinite(t_hat).all():  # then only complete runs get here, see curves_of
        t_hat = logged["step"].to_numpy(dtype=float) / float(rows["step"].max())
    return t_hat / max(1.0, float(t_hat[-1])), logged["lr"].to_numpy(dtype=float)
