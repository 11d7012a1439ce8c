"""The tables by name, and how each is made from a scale's results."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from scaling_collapse.config.scale import Scale
from scaling_collapse.curves.analysis import grid_of, normalisation_of
from scaling_collapse.curves.table import read_curves, write_table
from scaling_collapse.errors import FigureError
from scaling_collapse.paths import Paths
from scaling_collapse.plan.expand import expand
from scaling_collapse.tables.groups import BACK_TEST, FAULTY, HEADLINE

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from scaling_collapse.curves.normalise import Normalisation


def make_table(name: str, scale: Scale, root: Path = Path()) -> tuple[pd.DataFrame, Path]:
    """Compute the table `name` of a scale, write it to its place, and return it and the place.

    Raises FigureError for an unknown table, CurveError or FigureError where curves or runs are missing.
    """
    if name not in TABLES:
        near = difflib.get_close_matches(name, TABLES, n=1)
        fix = f"did you mean {near[0]}?" if near else f"use one of: {', '.join(TABLES)}"
        raise FigureError(f"table {name}", "there is no such table.", fix)
    paths = Paths(scale.name, root)
    table, path = TABLES[name](scale, paths), paths.table(name)
    write_table(table, path)
    return table, path


def _headline(scale: Scale, paths: Paths) -> pd.DataFrame:
    from scaling_collapse.tables.headline import headline

    curves = {family: read_curves(paths.group_curves(group)) for family, group in HEADLINE.items()}
    return headline(curves, scale.analysis, _sequence_length(scale))


def _runs(scale: Scale, paths: Paths) -> pd.DataFrame:
    from scaling_collapse.tables.runs import runs_table

    return runs_table(paths, expand(scale, paths.root))


def _table_11(scale: Scale, paths: Paths) -> pd.DataFrame:
    from scaling_collapse.tables.table_11 import table_11

    return table_11(read_curves(paths.curves), *_analysis(scale))


def _table_12(scale: Scale, paths: Paths) -> pd.DataFrame:
    from scaling_collapse.tables.table_12 import table_12

    return table_12(read_curves(paths.curves), *_analysis(scale))


def _back_test(scale: Scale, paths: Paths) -> pd.DataFrame:
    from scaling_collapse.tables.back_test import back_test_table

    curves = {group: read_curves(paths.group_curves(group)) for group in BACK_TEST}
    return back_test_table(curves, scale.analysis, _sequence_length(scale))


def _alarms(scale: Scale, paths: Paths) -> pd.DataFrame:
    from scaling_collapse.tables.alarms import alarms_table

    return alarms_table(read_curves(paths.curves), [read_curves(paths.group_curves(group)) for group in FAULTY])


def _analysis(scale: Scale) -> tuple[Normalisation, np.ndarray]:
    """Return how the scale normalises training losses, and its grid."""
    return normalisation_of(scale.analysis, "train", _sequence_length(scale)), grid_of(scale.analysis)


def _sequence_length(scale: Scale) -> int | None:
    """Return the sequence length of the scale's models [tokens], None where they differ."""
    lengths = {family.architecture.sequence_length for family in scale.families}
    return lengths.pop() if len(lengths) == 1 else None


TABLES: dict[str, Callable[[Scale, Paths], pd.DataFrame]] = {
    "headline": _headline,
    "runs": _runs,
    "table_11": _table_11,
    "table_12": _table_12,
    "back_test": _back_test,
    "alarms": _alarms,
}
