"""The tables by name, and how each is made from a scale's results."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from scaling_collapse.config.scale import Scale
from scaling_collapse.curves.table import read_curves, write_table
from scaling_collapse.errors import FigureError
from scaling_collapse.paths import Paths
from scaling_collapse.plan.expand import expand

if TYPE_CHECKING:
    import pandas as pd


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
    from scaling_collapse.tables.headline import FAMILIES, headline

    curves = {family: read_curves(paths.group_curves(group)) for family, group in FAMILIES.items()}
    lengths = {family.architecture.sequence_length for family in scale.families}
    return headline(curves, scale.analysis, lengths.pop() if len(lengths) == 1 else None)


def _runs(scale: Scale, paths: Paths) -> pd.DataFrame:
    from scaling_collapse.tables.runs import runs_table

    return runs_table(paths, expand(scale, paths.root))


TABLES: dict[str, Callable[[Scale, Paths], pd.DataFrame]] = {"headline": _headline, "runs": _runs}
