"""table_12.csv: which of the surrogate's laws matter (Table 12), fitted to one size and tested on all larger ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scaling_collapse.curves.grid import GRID
from scaling_collapse.curves.normalise import Normalisation
from scaling_collapse.errors import CurveError
from scaling_collapse.surrogate.ablation import ablation_table
from scaling_collapse.surrogate.data import curve_set
from scaling_collapse.surrogate.fitted_sizes import choose_sizes, sizes_of
from scaling_collapse.surrogate.form import PAPER
from scaling_collapse.tables.table_11 import params_by_run

if TYPE_CHECKING:
    import pandas as pd


def table_12(frame: pd.DataFrame, normalisation: Normalisation | None = None, grid: np.ndarray = GRID) -> pd.DataFrame:
    """Return one row a form (see `ablation_table`), with the sizes that it is fitted to and tested on.

    Fitted is the size of Table 11. Raises CurveError where no larger size has a run that decays to zero.
    """
    curves = curve_set(frame, "train", normalisation=normalisation, grid=grid, skip=True).decaying_to_zero()
    params = params_by_run(frame)
    fitted, _ = choose_sizes(curves, params, (), PAPER)
    every = sizes_of(curves, params)
    larger = every[every.index(fitted[-1]) + 1 :]
    if not larger:
        raise CurveError("table table_12", f"no size is larger than {fitted[-1]}, which is fitted.", "train one")
    table = ablation_table(curves.of_size(*fitted), curves.of_size(*larger))
    return table.assign(fitted_sizes=" ".join(fitted), tested_sizes=" ".join(larger))
