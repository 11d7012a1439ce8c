"""Predictions for a tidy table with a surrogate as template: no finished sibling is needed, but tau and TPP are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from scaling_collapse.curves.curve import curves_of
from scaling_collapse.errors import CurveError
from scaling_collapse.predict.predict import AUTO
from scaling_collapse.predict.prediction import FINISHED, REFUSED, Prediction, refused
from scaling_collapse.predict.surrogate_template import FITTED_POINTS, surrogate_template
from scaling_collapse.predict.table import predict_table, split_of
from scaling_collapse.predict.template import Template
from scaling_collapse.surrogate.form import Surrogate
from scaling_collapse.surrogate.rates import rates_of_run
from scaling_collapse.surrogate.schedule import RateCurve
from scaling_collapse.surrogate.stored import StoredSurrogate

if TYPE_CHECKING:
    import pandas as pd

FOREIGN_NOTE = (
    "the surrogate was fitted to other models, of scale cpu, so the interval reaches from no further fall to twice the "
    "fall that it foresees; collapse fit fits one to runs of its own family"
)


def predict_with_surrogate(
    curves: pd.DataFrame,
    surrogate: StoredSurrogate,
    at: float | None = None,
    method: str = AUTO,
    siblings: Sequence[str] | Literal["smaller"] | None = None,
    *,
    split: str | None = None,
    complete: bool = False,
    max_half_width_percent: float | None = None,
    made: tuple[dict[str, Template], dict[str, str]] | None = None,
) -> list[Prediction]:
    """Predict each run of a checked table from the surrogate's curve for its own tau, TPP and schedule.

    Arguments and errors as in `predict_table`; `made` is what `surrogate_templates` returned, where that is at hand. A
    run whose tau, TPP or schedule is not known is in the list without a value, and its warning says why; tau or TPP
    outside what the surrogate was fitted on is warned of.
    """
    chosen = split_of(curves, split)
    templates, reasons = surrogate_templates(curves, surrogate, chosen, complete) if made is None else made
    found = predict_table(
        curves,
        templates,
        at,
        method,
        siblings,
        split=chosen,
        complete=complete,
        max_half_width_percent=max_half_width_percent,
    )
    return [_told(prediction, templates.get(prediction.run), reasons, surrogate, chosen) for prediction in found]


def surrogate_templates(
    curves: pd.DataFrame, surrogate: StoredSurrogate, split: str, complete: bool = False
) -> tuple[dict[str, Template], dict[str, str]]:
    """Return the surrogate's template for each run of a checked table, and why the other runs have none."""
    templates, reasons = {}, {}
    rows = dict(tuple(curves.groupby("run", sort=False, observed=True)))
    for curve in curves_of(curves, split, complete):
        try:
            shape = _Shape(surrogate.surrogate, rates_of_run(curve.run, rows[curve.run]))
            templates[curve.run] = surrogate_template(
                shape, curve, surrogate.mae_percent, surrogate.foreign, FITTED_POINTS
            )
        except CurveError as error:
            reasons[curve.run] = str(error)
    return templates, reasons


@dataclass(frozen=True)
class _Shape:
    """The surrogate as a template takes it, with the run's own learning rates in place of its schedule's name."""

    surrogate: Surrogate
    rates: RateCurve

    def __call__(self, t_hat: np.ndarray, tau: float, tpp: float, schedule: str) -> np.ndarray:
        return self.surrogate.evaluate(t_hat, tau, tpp, self.rates)


def _told(
    prediction: Prediction,
    template: Template | None,
    reasons: Mapping[str, str],
    surrogate: StoredSurrogate,
    split: str,
) -> Prediction:
    """Return the prediction with what the surrogate has to say: why there is none, or how far to trust it."""
    if template is None:
        return refused(prediction.run, prediction.progress, reasons[prediction.run], prediction.true_final_loss)
    if prediction.method in (FINISHED, REFUSED):
        return prediction
    notes = [FOREIGN_NOTE] if surrogate.foreign else []
    if surrogate.split not in ("", split):
        notes.append(f"the surrogate was fitted to {surrogate.split} losses, these are {split} losses")
    return prediction.with_warning(*notes, *surrogate.range_notes(template.tau, template.tpp))
