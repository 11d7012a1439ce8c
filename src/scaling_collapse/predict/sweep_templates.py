"""Templates for the runs of a sweep, from runs of other sizes alone: the swept runs' own future never enters.

A finished run of a smaller size at the same tau, tokens per parameter and schedule, where each run of the sweep has
one; else, for all of them, the surrogate, evaluated at each run's own tau, tokens per parameter and learning rates.
The two are not mixed: the errors of one kind of template are alike and cancel in a ranking, those of two do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from scaling_collapse.curves.curve import Curve, curves_of
from scaling_collapse.curves.family import size_name
from scaling_collapse.curves.measures import PERCENT
from scaling_collapse.curves.normalise import Normalisation
from scaling_collapse.errors import CurveError
from scaling_collapse.predict.by_surrogate import surrogate_templates
from scaling_collapse.predict.match import TOLERATED_RATIO
from scaling_collapse.predict.predict import Settings, known_final_loss
from scaling_collapse.predict.template import Template, template_of
from scaling_collapse.surrogate.data import CurveSet, curve_set
from scaling_collapse.surrogate.fit import SurrogateFit, fit_surrogate
from scaling_collapse.surrogate.form import FREE_DECAY, Form
from scaling_collapse.surrogate.stored import StoredSurrogate

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class SweepTemplates:
    """A template for each run of a sweep. `sizes` are those it comes from; `fit` the surrogate, None for real runs."""

    by_run: dict[str, Template]
    sizes: tuple[str, ...]
    fit: SurrogateFit | None = None

    @property
    def words(self) -> str:
        """Where the templates come from, in a few words."""
        if self.fit is None:
            return f"{', '.join(self.sizes)} at equal tau"
        return f"surrogate of {len(self.fit.runs)} runs of {', '.join(self.sizes)}"


def sweep_templates(
    sweep: pd.DataFrame,
    others: pd.DataFrame,
    split: str = "train",
    form: Form = FREE_DECAY,
    normalisation: Normalisation | None = None,
) -> SweepTemplates:
    """Return templates for the runs of `sweep` from the runs of other sizes in `others` (checked tables).

    Raises CurveError where there is none, or none that can be used.
    """
    curves = list(curves_of(sweep, split))
    outside = other_sizes(sweep, others)
    real = _real(curves, list(curves_of(outside, split)), normalisation)
    if len(real) == len(curves):
        return SweepTemplates(
            {run: made for run, (made, _) in real.items()}, _sizes([size for _, size in real.values()])
        )
    fit, used = fit_outside(sweep, others, split, form, normalisation)
    return SweepTemplates(curves_of_surrogate(sweep, fit, split), _sizes(used.sizes), fit)


def other_sizes(sweep: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of runs in `others` that are of no size of `sweep`. Raises CurveError where none is left."""
    kept = others[~others["size_params"].isin(sweep["size_params"].unique())]
    if kept.empty:
        sizes = ", ".join(_sizes([size_name(curve) for curve in curves_of(sweep, str(sweep["split"].iloc[0]))]))
        raise CurveError("sweep", f"there is no run of another size than {sizes} to take a template from.", "train one")
    return kept.drop_duplicates(["run", "split", "step"])


def fit_outside(
    sweep: pd.DataFrame,
    others: pd.DataFrame,
    split: str = "train",
    form: Form = FREE_DECAY,
    normalisation: Normalisation | None = None,
) -> tuple[SurrogateFit, CurveSet]:
    """Return the surrogate for a sweep and the runs that it is fitted to, which decay to zero.

    They are those of smaller sizes where these are more runs than constants and differ in tau and in tokens per
    parameter, else those of all other sizes. Raises CurveError where none can be used.
    """
    outside = other_sizes(sweep, others)
    used = curve_set(outside, split, normalisation=normalisation, skip=True).decaying_to_zero()
    params = outside.groupby("run", observed=True)["size_params"].first()
    is_smaller_R = np.array([params[run] for run in used.runs]) < sweep["size_params"].min()
    if is_smaller_R.sum() > len(form.fitted):
        smaller = used.where(is_smaller_R)
        if np.ptp(smaller.tau) > 0 and np.ptp(smaller.tpp) > 0:
            used = smaller
    return fit_surrogate(used, form), used


def curves_of_surrogate(sweep: pd.DataFrame, fit: SurrogateFit, split: str = "train") -> dict[str, Template]:
    """Return the fitted surrogate's curve for each run of `sweep`, at its own tau, TPP and learning rates.

    Raises CurveError, naming the run, for one whose tau, TPP or learning rate is not known.
    """
    stored = StoredSurrogate(
        surrogate=fit.surrogate,
        split=split,
        mae_percent=fit.mae_percent,
        tau_range=fit.tau_range,
        tpp_range=fit.tpp_range,
    )
    templates, reasons = surrogate_templates(sweep, stored, split)
    for run, reason in reasons.items():
        raise CurveError(run, f"the surrogate has no curve for it ({reason}).", "fill its columns in, or leave it out")
    return templates


def seed_deviation_percent(curves: Sequence[Curve], settings: Settings | None = None) -> float:
    """Return the standard deviation of the final loss over seeds [percent], pooled over recipes; NaN without repeats.

    What two rules cost differs by noise alone where it differs by less.
    """
    chosen = settings or Settings()
    losses: dict[tuple[object, ...], dict[str, float]] = {}
    for curve in curves:
        final = known_final_loss(curve, chosen)
        if final is not None:
            losses.setdefault(curve.recipe, {})[curve.run] = float(np.log(final))
    repeats = [np.array(list(runs.values())) for runs in losses.values() if len(runs) > 1]
    if not repeats:
        return float("nan")
    squares, freedom = sum(float(((x - x.mean()) ** 2).sum()) for x in repeats), sum(len(x) - 1 for x in repeats)
    return PERCENT * float(np.sqrt(squares / freedom))


def _real(
    curves: Sequence[Curve], pool: Sequence[Curve], normalisation: Normalisation | None
) -> dict[str, tuple[Template, str]]:
    """Return, for each run that has one, the finished smaller run of nearest tau as template, and its size.

    Of several as near, the largest, then the one of nearest batch.
    """
    found = {}
    for curve in curves:
        fitting = [other for other in pool if _fits(other, curve)]
        if fitting:
            nearest = min(fitting, key=partial(_distance, curve))
            found[curve.run] = template_of(nearest, normalisation), size_name(nearest)
    return found


def _distance(curve: Curve, other: Curve) -> tuple[float, ...]:
    batches = _apart(float(other.facts["batch_tokens"]), float(curve.facts["batch_tokens"]))
    return round(_apart(other.tau, curve.tau), 1), -other.size_params, batches, other.seed


def _fits(other: Curve, curve: Curve) -> bool:
    same = str(other.facts.get("schedule")) == str(curve.facts.get("schedule"))
    near = _apart(other.tau, curve.tau) <= 1 and _apart(other.tpp, curve.tpp) <= 1
    done = known_final_loss(other, Settings()) is not None
    return other.size_params < curve.size_params and same and near and done


def _apart(first: float, second: float) -> float:
    """Return the ratio of two numbers on a log scale, 1 where it is the largest tolerated."""
    return abs(float(np.log(first / second))) / float(np.log(TOLERATED_RATIO)) if first > 0 and second > 0 else np.inf


def _sizes(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
