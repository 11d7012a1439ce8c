"""Finished runs out of a table of curves, to hold a run against."""

from __future__ import annotations

from pathlib import Path

from scaling_collapse.curves.curve import Curve
from scaling_collapse.errors import CurveError


def read_references(path: str | Path, *runs: str, complete: bool = False) -> list[Curve]:
    """Return the finished training curves of a table, CSV or parquet: those of `runs`, or all without a name.

    `complete` says of a table without token counts that its runs were logged to their end. Raises CurveError for a
    file that is no such table, a run that is not in it or did not finish, or where none did.
    """
    from scaling_collapse.curves.curve import curves_of
    from scaling_collapse.curves.table import choose_runs, read_curves

    table = read_curves(Path(path))
    curves = list(curves_of(choose_runs(table, list(runs)) if runs else table, "train", complete))
    finished = [curve for curve in curves if curve.finished]
    lacking = sorted(set(runs) - {curve.run for curve in finished})
    if lacking:
        raise CurveError(lacking[0], "it did not finish, so nothing can be held against it.", "name a finished run")
    if not finished:
        raise CurveError(str(path), "none of its runs is finished.", "name another table")
    return finished
