"""headline.csv: how far each family of the headline collapses, one row a family."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from scaling_collapse.config.scale import Analysis
from scaling_collapse.curves.analysis import grid_of, normalisation_of
from scaling_collapse.curves.build import TRAIN, VALIDATION
from scaling_collapse.curves.family import FamilySummary, family_summary
from scaling_collapse.errors import CurveError, FigureError

if TYPE_CHECKING:
    import pandas as pd

COLLAPSED = "collapsed"


def headline(
    curves: Mapping[str, pd.DataFrame], analysis: Analysis, sequence_length: int | None = None
) -> pd.DataFrame:
    """Return the table from the `curves` of each family (checked tables by family name).

    Percentages are of the final loss. `spread_percent` is on the training losses, `spread_validation_percent` on the
    held-out ones; `ratio_to_collapsed` is a family's spread over that of the collapsed one. Diverged runs are left out
    and named. Raises FigureError where a family cannot be measured.
    """
    import pandas as pd

    rows = [_row(family, frame, analysis, sequence_length) for family, frame in curves.items()]
    table = pd.DataFrame(rows)
    collapsed = table.loc[table["family"] == COLLAPSED, "spread_percent"]
    ratio = table["spread_percent"] / collapsed.iloc[0] if len(collapsed) else np.nan
    table.insert(list(table.columns).index("noise_floor_source"), "ratio_to_collapsed", ratio)
    return table


def _row(family: str, frame: pd.DataFrame, analysis: Analysis, sequence_length: int | None) -> dict[str, object]:
    train = _measured(family, frame, TRAIN, analysis, sequence_length)
    held_out = _measured(family, frame, VALIDATION, analysis, sequence_length)
    return {
        "family": family,
        "tpp_min": train.tpp_min,
        "tpp_max": train.tpp_max,
        "tau_min": train.tau_min,
        "tau_max": train.tau_max,
        "sizes": len(train.sizes),
        "spread_percent": train.spread_percent,
        "spread_of_range_percent": train.spread_of_range_percent,
        "noise_floor_percent": train.noise_floor_percent,
        "noise_floor_source": train.noise_floor_source,
        "max_minus_min_percent": train.max_minus_min_percent,
        "spread_validation_percent": held_out.spread_percent,
        "noise_floor_validation_percent": held_out.noise_floor_percent,
        "size_names": " ".join(train.sizes),
        "runs": " ".join(train.runs),
        "diverged_runs": " ".join(train.left_out),
    }


def _measured(
    family: str, frame: pd.DataFrame, split: str, analysis: Analysis, sequence_length: int | None
) -> FamilySummary:
    try:
        return family_summary(frame, split, normalisation_of(analysis, split, sequence_length), grid_of(analysis))
    except CurveError as error:
        raise FigureError(f"headline, {family} ({split})", f"{error.where}: {error.problem}", error.fix) from error
