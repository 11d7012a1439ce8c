"""Curves from a file of any kind: the tidy table, or logs of any format that `collapse import` reads."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from scaling_collapse.curves.table import COMMON_COLUMNS, read_curves
from scaling_collapse.errors import CurveError
from scaling_collapse.logs.notes import Guess, Note

if TYPE_CHECKING:
    import pandas as pd

    from scaling_collapse.logs.options import Options

#: Names of runs that one line holds.
FEW_NAMES = 5


@dataclass(frozen=True)
class CurveFiles:
    """A checked table (curves/table.py), and in words what was guessed for it."""

    frame: pd.DataFrame
    said: tuple[str, ...]


def read_files(paths: Sequence[Path], options: Options | None = None) -> CurveFiles:
    """Read tidy tables, and logs as `options` say, into one table.

    Raises CurveError or LogError, naming the file, for whatever is wrong with one, and for a run that two have.
    """
    import pandas as pd

    from scaling_collapse.logs.read import read_logs

    tables = [path for path in paths if is_tidy(path)]
    logs = [path for path in paths if path not in tables]
    parts = {str(path): read_curves(path) for path in tables}
    said: tuple[str, ...] = ()
    if logs:
        found = read_logs(logs, options)
        parts["the logs"], said = found.frame, guess_lines(found.guesses, found.notes)
    _check_names(parts)
    frame = pd.concat(parts.values(), ignore_index=True) if len(parts) > 1 else next(iter(parts.values()))
    return CurveFiles(frame, said)


def is_tidy(path: Path) -> bool:
    """Whether a file has the columns of the tidy table; False for one that cannot be read."""
    try:
        if path.suffix == ".parquet":
            import pyarrow.parquet

            names = pyarrow.parquet.read_schema(path).names
        elif path.suffix == ".csv":
            with path.open(encoding="utf-8-sig", newline="") as file:
                names = next(csv.reader(file), [])
        else:
            return False
    except (OSError, ValueError, csv.Error):  # pyarrow's errors are of the first two
        return False
    return set(names) >= set(COMMON_COLUMNS)


def guess_lines(guesses: Sequence[Guess], notes: Iterable[Note]) -> tuple[str, ...]:
    """Return a line for what was guessed, of logs alike together, and one for each note on losses that are missing."""
    logs = list(dict.fromkeys(guess.where for guess in guesses))
    alike: dict[str, list[str]] = {}
    for where in logs:
        own = [guess for guess in guesses if guess.where == where and (len(logs) == 1 or guess.what != "run")]
        alike.setdefault("; ".join(f"{guess.what}: {guess.value}" for guess in own), []).append(where)
    lines = [f"{listed(names)}: guessed {told}" for told, names in alike.items() if told]
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


def _check_names(parts: dict[str, pd.DataFrame]) -> None:
    owner: dict[str, str] = {}
    for where, frame in parts.items():
        for run in map(str, frame["run"].unique()):
            if run in owner:
                raise CurveError(where, f"run {run} is in {owner[run]} too.", "give each run once")
            owner[run] = where
