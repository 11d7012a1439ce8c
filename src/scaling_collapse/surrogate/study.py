"""The whole fit of a table of curves: which runs are fitted, constants with intervals, errors on all other runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scaling_collapse.curves.grid import GRID
from scaling_collapse.curves.measures import PERCENT
from scaling_collapse.curves.normalise import Normalisation
from scaling_collapse.errors import ConfigError, CurveError
from scaling_collapse.surrogate.automatic import fit_identified
from scaling_collapse.surrogate.bootstrap import bootstrap_fit
from scaling_collapse.surrogate.data import CurveSet, curve_set
from scaling_collapse.surrogate.evaluate import predicted
from scaling_collapse.surrogate.fit import SurrogateFit
from scaling_collapse.surrogate.fitted_sizes import choose_sizes, sizes_of
from scaling_collapse.surrogate.form import BOTH_LAWS, CONSTANTS, FREE_DECAY, PAPER, Form
from scaling_collapse.surrogate.identify import Identifiability
from scaling_collapse.surrogate.problem import MAE, Objective
from scaling_collapse.surrogate.published import published_of

if TYPE_CHECKING:
    import pandas as pd

#: Forms by the names under which commands know them.
FORMS: dict[str, Form] = {"paper": PAPER, "both_laws": BOTH_LAWS, "free_decay": FREE_DECAY}

#: Resamples of the runs behind the intervals.
DRAWS = 200


@dataclass(frozen=True)
class FittedConstant:
    """A constant of the surrogate, its 90% interval (None where it has none), the verdict on it, and why."""

    name: str
    value: float
    interval: tuple[float, float] | None
    verdict: str
    reason: str


@dataclass(frozen=True)
class SizeError:
    """Errors [percent of L(T)] on the runs of a size that was not fitted: mean, worst run, mean bias of l_hat.

    `outside` counts runs whose tau or TPP lies outside what was fitted.
    """

    size: str
    runs: int
    mae_percent: float
    worst_percent: float
    worst_run: str
    bias_percent: float
    outside: int


@dataclass(frozen=True)
class SurrogateStudy:
    """A fit and all that belongs to it. `sizes` were fitted, for the reason in `choice`; `left_out`: (run, reason)."""

    form: str
    split: str
    sizes: tuple[str, ...]
    choice: str
    fit: SurrogateFit
    identifiability: Identifiability
    constants: tuple[FittedConstant, ...]
    held_out: tuple[SizeError, ...]
    left_out: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]


def fit_study(
    frame: pd.DataFrame,
    split: str = "train",
    sizes: Sequence[str] = (),
    form: str = "paper",
    objective: Objective = MAE,
    *,
    normalisation: Normalisation | None = None,
    grid: np.ndarray = GRID,
    draws: int = DRAWS,
    complete: bool = False,
) -> SurrogateStudy:
    """Fit the surrogate to the runs of `sizes` in a checked table, and test it on all others.

    Without `sizes` it is the smallest size that has enough runs; where none has, all sizes. Runs that do not decay to
    zero enter only where none does, and runs that cannot be used are left out. `draws` 0 means no intervals. Raises
    ConfigError for an unknown form or size, CurveError where no run can be used.
    """
    if form not in FORMS:
        raise ConfigError("form", f"there is no {form!r}.", f"use one of: {', '.join(FORMS)}")
    used, left_out, notes = _decaying(curve_set(frame, split, None, normalisation, grid, complete=complete, skip=True))
    params = {str(run): float(size) for run, size in frame.groupby("run", observed=True)["size_params"].first().items()}
    chosen, choice = choose_sizes(used, params, sizes, FORMS[form])
    inside = np.isin(used.sizes, chosen)
    fitted = used.where(inside)
    fit, found = fit_identified(fitted, published_of(FORMS[form], split).surrogate, FORMS[form], objective)
    intervals, missing = _intervals(fitted, fit, draws)
    return SurrogateStudy(
        form=form,
        split=split,
        sizes=chosen,
        choice=choice,
        fit=fit,
        identifiability=found,
        constants=tuple(_constants(fit, found, intervals)),
        held_out=() if inside.all() else tuple(_held_out(fit, used.where(~inside), params)),
        left_out=left_out,
        warnings=(*notes, *missing, *fit.warnings),
    )


def _decaying(every: CurveSet) -> tuple[CurveSet, tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Return the runs that decay to zero, what is left out and why, and a note where all are taken since none does."""
    try:
        used = every.decaying_to_zero()
    except CurveError:
        return every, every.left_out, ("no run decays to zero, as those of the paper's fits do: all are taken",)
    others = [(run, "its learning rate does not end at zero") for run in every.runs if run not in set(used.runs)]
    return used, (*every.left_out, *others), ()


def _intervals(
    curves: CurveSet, fit: SurrogateFit, draws: int
) -> tuple[Mapping[str, tuple[float, float]], tuple[str, ...]]:
    """Return the intervals by constant, and a note where resamples of the runs cannot give any."""
    if draws == 0 or not fit.form.fitted:
        return {}, ()
    if len(fit.runs) <= len(fit.form.fitted):
        return {}, (f"no intervals: {len(fit.runs)} run(s) are too few to resample",)
    try:
        return bootstrap_fit(curves, fit, draws).intervals(), ()
    except CurveError as error:
        return {}, (f"no intervals: {error.problem}",)


def _constants(
    fit: SurrogateFit, found: Identifiability, intervals: Mapping[str, tuple[float, float]]
) -> Iterator[FittedConstant]:
    judged = {constant.name: constant for constant in found.constants}
    for name in CONSTANTS:
        value, constant = getattr(fit.surrogate, name), judged.get(name)
        if constant is None:
            yield FittedConstant(name, value, None, "fixed", "by the form")
        else:
            yield FittedConstant(name, value, intervals.get(name), constant.verdict, constant.reason)


def _held_out(fit: SurrogateFit, curves: CurveSet, params: Mapping[str, float]) -> Iterator[SizeError]:
    error_RG = PERCENT * (predicted(fit.surrogate, curves) - curves.loss)
    mae_R, bias_R = np.abs(error_RG).mean(axis=1), error_RG.mean(axis=1)
    outside_R = np.array([any(fit.range_notes(*pair)) for pair in zip(curves.tau, curves.tpp, strict=True)])
    for size in sizes_of(curves, params):
        of = np.flatnonzero(np.array(curves.sizes) == size)
        worst = int(of[mae_R[of].argmax()])
        yield SizeError(
            size=size,
            runs=len(of),
            mae_percent=float(mae_R[of].mean()),
            worst_percent=float(mae_R[worst]),
            worst_run=curves.runs[worst],
            bias_percent=float(bias_R[of].mean()),
            outside=int(outside_R[of].sum()),
        )
