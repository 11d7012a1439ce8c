"""Curves from whatever a user has: tidy tables, or logs of any format that can be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from scaling_collapse.curves.table import COLUMNS, read_curves
from scaling_collapse.errors import CurveError, LogError
from scaling_collapse.logs.notes import Guess, Note
from scaling_collapse.logs.options import FACTS, Options
from scaling_collapse.logs.read import read_logs

if TYPE_CHECKING:
    import pandas as pd

#: Names of files or runs that one line holds.
FEW_NAMES = 5


@dataclass(frozen=True)
class Given:
    """A checked table of curves, what its reading guessed, repaired and left out, and by (run, split) the steps whose
    losses were NaN or infinite, which the table cannot hold.
    """

    frame: pd.DataFrame
    notes: tuple[Note, ...] = ()
    guesses: tuple[Guess, ...] = ()
    not_finite: Mapping[tuple[str, str], np.ndarray] = field(default_factory=dict)

    @property
    def said(self) -> tuple[str, ...]:
        """A line for what was guessed, of logs alike together, and one for each note on losses that are missing."""
        return guess_lines(self.guesses, self.notes)


def read_given(paths: Sequence[Path], options: Options | None = None) -> Given:
    """Read tidy tables (.csv or .parquet with its columns), and logs as `options` say, into one table.

    Raises CurveError or LogError, naming the file, for whatever is wrong with one, for a run that two have, and for
    options where there is no log.
    """
    import pandas as pd

    tables = [path for path in paths if is_tidy(path)]
    parts = {str(path): read_curves(path) for path in tables}
    logs = [path for path in paths if path not in tables]
    if not logs and options not in (None, Options()):
        raise LogError(str(tables[0]), "it is a table of curves, and the options are for logs.", "leave them out")
    found = read_logs(logs, options) if logs else None
    if found is not None:
        parts["the logs"] = found.frame
    _check_names(parts)
    frame = pd.concat(parts.values(), ignore_index=True) if len(parts) > 1 else next(iter(parts.values()))
    if found is None:
        return Given(frame)
    lost = {(curve.run, curve.split): curve.not_finite for curve in found.curves if len(curve.not_finite)}
    return Given(frame, found.notes, found.guesses, lost)


def is_tidy(path: Path) -> bool:
    """Return whether a file is meant as a tidy table: it has the needed columns, and one that logs rarely have.

    A column that is missing is then told by `read_curves`, and nothing is lost silently. A file that cannot be read
    is none.
    """
    import pandas as pd
    import pyarrow.parquet

    try:
        if path.suffix == ".csv":
            columns = list(pd.read_csv(path, nrows=0).columns)
        elif path.suffix == ".parquet":
            columns = pyarrow.parquet.read_schema(path).names
        else:
            return False
    except (OSError, ValueError):  # the parsers' errors are ValueErrors or OSErrors
        return False
    needed = {name for name, column in COLUMNS.items() if column.required}
    return needed <= set(columns) and bool(set(FACTS) & set(columns))


def guess_lines(guesses: Sequence[Guess], notes: Sequence[Note]) -> tuple[str, ...]:
    """Return a line for what was guessed, of logs alike together, and one for each note on losses that are missing."""
    logs = list(dict.fromkeys(guess.where for guess in guesses))
    alike: dict[str, list[str]] = {}
    for where in logs:
        own = [guess for guess in guesses if guess.where == where and (len(logs) == 1 or guess.what != "run")]
        alike.setdefault("; ".join(f"{guess.what}: {guess.value}" for guess in own), []).append(where)
    lines = [f"{listed(names)}: guessed {words}" for words, names in alike.items() if words]
    return (*lines, *(str(note) for note in notes if note.lost))


def assumed_finished(frame: pd.DataFrame) -> tuple[str, ...]:
    """Return a line that names the runs whose last loss is taken for their end, as nothing tells how long they are."""
    known = np.isfinite(frame[["tokens", "tokens_total"]].to_numpy(dtype=float, na_value=np.nan)).all(axis=1)
    runs = frame.loc[~known, "run"].unique().tolist()
    if not runs:
        return ()
    return (f"taken as finished, since tokens or tokens_total are not known: {listed(runs)}",)


def listed(names: Sequence[str]) -> str:
    """Return some names in words."""
    more = f" and {len(names) - FEW_NAMES} more" if len(names) > FEW_NAMES else ""
    return ", ".join(names[:FEW_NAMES]) + more


def _check_names(parts: Mapping[str, pd.DataFrame]) -> None:
    owner: dict[str, str] = {}
    for where, frame in parts.items():
        for run in map(str, frame["run"].unique()):
            if run in owner:
                raise CurveError(where, f"run {run} is in {owner[run]} too.", "give each run once")
            owner[run] = where
