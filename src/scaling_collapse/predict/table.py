"""Predictions for a tidy table of curves: what `collapse predict` calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from scaling_collapse.curves.curve import Curve, curves_of
from scaling_collapse.curves.table import choose_runs
from scaling_collapse.errors import CurveError
from scaling_collapse.predict.predict import AUTO, Settings, predict_curves
from scaling_collapse.predict.prediction import Prediction
from scaling_collapse.predict.template import Template, template_of

if TYPE_CHECKING:
    import pandas as pd

#: A learning rate within this fraction of the peak has arrived there.
AT_PEAK = 0.999


def predict_table(
    curves: pd.DataFrame,
    template: Template | str | Mapping[str, Template],
    at: float | None = None,
    method: str = AUTO,
    siblings: Sequence[str] | Literal["smaller"] | None = None,
    *,
    split: str | None = None,
    complete: bool = False,
    on_mismatch: Literal["warn", "refuse"] = "warn",
    max_half_width_percent: float | None = None,
) -> list[Prediction]:
    """Predict the final loss of each run of a checked table (curves/table.py) but the template's own.

    `template` is a run of the table, a Template, or one for each run. `at` cuts all runs at that fraction of training
    (a back-test of those that are finished). `siblings`: names of finished runs of the table to back-test on, or
    "smaller" for those with fewer parameters than each run. `split` is "train" where the table has it, else its only
    one. `complete` as in `curves_of`. Raises CurveError for an unknown run or split, ConfigError for an unknown
    method; a run that cannot be predicted is in the list without a value, and its warning says why.
    """
    chosen = split_of(curves, split)
    settings = Settings(
        method=method,
        on_mismatch=on_mismatch,
        max_half_width_percent=max_half_width_percent,
        warmup=warmup_ends(curves),
    )
    known = {curve.run: curve for curve in curves_of(curves, chosen, complete)}
    pool: Sequence[Curve] | Literal["smaller"] = "smaller" if siblings == "smaller" else ()
    if siblings is not None and siblings != "smaller":
        pool = [_run(curves, known, name, chosen) for name in siblings]
    used = template_of(_run(curves, known, template, chosen)) if isinstance(template, str) else template
    return predict_curves(list(known.values()), used, at, pool, settings)


def split_of(curves: pd.DataFrame, split: str | None) -> str:
    """Return the split to use. Raises CurveError where it is not given and the table leaves it open."""
    known = list(map(str, curves["split"].unique()))
    if split is not None:
        return split
    if "train" in known:
        return "train"
    if len(known) == 1:
        return known[0]
    raise CurveError("curves", f"there are {len(known)} splits: {', '.join(known)}.", "name one with split")


def warmup_ends(curves: pd.DataFrame) -> dict[str, float]:
    """Return the fraction of training at which each run's warm-up ends, for runs whose learning rate is logged.

    Warm-up ends where the rate first comes to its peak; a run whose rate still rises gets its last fraction. (Column
    lr_peak is no help: it holds the hidden matrices' rate, which width scaling makes another than the logged one.)
    """
    logged = curves[np.isfinite(curves["lr"].to_numpy(dtype=float, na_value=np.nan))]
    found = {}
    for run, rows in logged.groupby("run", sort=False, observed=True):
        rate = rows["lr"].to_numpy(dtype=float)
        total = rows["tokens"].to_numpy(dtype=float, na_value=np.nan) / float(rows["tokens_total"].iloc[0])
        step = rows["step"].to_numpy(dtype=float)
        t_hat = total if np.isfinite(total).all() else step / step[-1]
        first = int((rate >= AT_PEAK * rate.max()).argmax())
        found[str(run)] = float(t_hat[first]) if first else 0.0
    return found


def _run(curves: pd.DataFrame, known: dict[str, Curve], name: str, split: str) -> Curve:
    """Return a run's curve. Raises CurveError, with the nearest name, where there is none."""
    choose_runs(curves, [name])
    if name not in known:
        raise CurveError(name, f"it has no curve of split {split!r}.", "choose another run or split")
    return known[name]
