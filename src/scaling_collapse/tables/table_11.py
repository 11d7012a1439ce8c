"""table_11.csv: how well the surrogate, fitted to one size, describes every size (Table 11), by form and band."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scaling_collapse.curves.grid import GRID
from scaling_collapse.curves.normalise import Normalisation
from scaling_collapse.surrogate.data import CurveSet, curve_set
from scaling_collapse.surrogate.evaluate import RANGES, errors_by, held_out_errors
from scaling_collapse.surrogate.fit import SurrogateFit
from scaling_collapse.surrogate.fitted_sizes import sizes_of
from scaling_collapse.surrogate.study import FORMS, fit_study

if TYPE_CHECKING:
    import pandas as pd

#: The value of column `tpp` for all tokens per parameter of a size together, as in the paper's table.
ALL = "all"

COLUMNS = ("form", "size", "tpp", "fitted", "runs", "outside", "mae_percent", "worst_mae_percent", "bias_percent")


def table_11(frame: pd.DataFrame, normalisation: Normalisation | None = None, grid: np.ndarray = GRID) -> pd.DataFrame:
    """Return one row a form, size and band of tokens per parameter, smallest size first; errors in percent of L(T).

    `fitted` marks the size that the constants come from; `outside` counts runs whose tau or TPP lies outside what was
    fitted. MAE is over t_hat in [.2, 1] (mean over runs, and the worst run); bias is predicted minus true. Runs that
    do not decay to zero are left out. Raises CurveError where no run can be used.
    """
    import pandas as pd

    curves = curve_set(frame, "train", normalisation=normalisation, grid=grid, skip=True).decaying_to_zero()
    sizes = sizes_of(curves, params_by_run(frame))
    parts = []
    for form in FORMS:
        study = fit_study(frame, form=form, normalisation=normalisation, grid=grid, draws=0)
        rows = _rows(curves, study.fit, sizes)
        parts.append(rows.assign(form=form, fitted=rows["size"].isin(study.sizes)))
    return pd.concat(parts, ignore_index=True)[list(COLUMNS)]


def params_by_run(frame: pd.DataFrame) -> dict[str, float]:
    """Return the parameters of each run of a table."""
    first = frame.groupby("run", observed=True)["size_params"].first()
    return {str(run): float(size) for run, size in first.items()}


def _rows(curves: CurveSet, fit: SurrogateFit, sizes: list[str]) -> pd.DataFrame:
    import pandas as pd

    errors = held_out_errors(fit.surrogate, curves, RANGES[:1]).sort_values("tpp", kind="stable")
    notes = [list(fit.range_notes(*pair)) for pair in zip(errors["tau"], errors["tpp"], strict=True)]
    errors = errors.assign(outside=[bool(note) for note in notes], tpp=[f"{tpp:.3g}" for tpp in errors["tpp"]])
    both = pd.concat([errors.assign(tpp=ALL), errors])
    table = errors_by(both, ("size", "tpp"))
    table["outside"] = both.groupby(["size", "tpp"], sort=False, observed=True)["outside"].sum().to_numpy()
    place = {size: index for index, size in enumerate(sizes)}
    return table.sort_values("size", key=lambda names: names.map(place), kind="stable")
