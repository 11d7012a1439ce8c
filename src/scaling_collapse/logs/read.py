"""Reading logs of any known format: files in; curves, notes and guesses out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from scaling_collapse.errors import LogError
from scaling_collapse.logs.curves import LogCurve, LoggedRun
from scaling_collapse.logs.formats.parquet import MAGIC, Parquet
from scaling_collapse.logs.merge import Part, Runs
from scaling_collapse.logs.notes import EXAMPLE_WIDTH, Guess, Note, Notes
from scaling_collapse.logs.options import Options
from scaling_collapse.logs.parser import Parser
from scaling_collapse.logs.race import Race
from scaling_collapse.logs.registry import FORMATS, format_named
from scaling_collapse.logs.run_names import run_names
from scaling_collapse.logs.source import chunks
from scaling_collapse.logs.store import Store

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Imported:
    """What logs hold: curves in the order of the files, notes on all that was dropped or repaired, and guesses."""

    curves: tuple[LogCurve, ...]
    notes: tuple[Note, ...]
    guesses: tuple[Guess, ...]

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The checked tidy table (curves/table.py)."""
        from scaling_collapse.logs.tidy import tidy

        return tidy(self.curves)


@dataclass(frozen=True)
class Logged:
    """Runs of a log as it has them, in its order; notes on what could not be read; guesses."""

    runs: tuple[LoggedRun, ...]
    notes: tuple[Note, ...]
    guesses: tuple[Guess, ...]


def read_logs(paths: Sequence[Path], options: Options | None = None) -> Imported:
    """Read `paths` and return their curves.

    Raises LogError, naming the file, for one that cannot be read or holds no losses that could be recognised, and for
    options that do not fit. Memory: about 100 bytes a loss, and a chunk of text at a time.
    """
    runs = _collected(paths, options or Options())
    curves, notes = runs.finish()
    if not curves:
        lost = "; ".join(str(note) for note in notes if note.lost) or "no losses"
        raise LogError(", ".join(map(str, paths[:3])) or "logs", f"no curve of two points or more ({lost}).")
    return Imported(curves, notes, runs.guesses())


def read_logged(path: Path, options: Options | None = None) -> Logged:
    """Read a finished log as it stands, with nothing repaired: for those who look for its faults.

    The columns are chosen, and runs told apart, as in `read_logs`; raises as that does for a file without losses.
    """
    runs = _collected([path], options or Options())
    return Logged(runs.logged(), runs.notes(), runs.guesses())


def _collected(paths: Sequence[Path], options: Options) -> Runs:
    if options.format is not None:
        format_named(options.format)
    runs = Runs(options)
    for path, name in zip(paths, run_names(paths, options.run), strict=True):
        runs.add(_read_one(path, name, options))
    return runs


def _read_one(path: Path, name: str, options: Options) -> Part:
    """Return the losses of one file. Raises LogError where there are none."""
    where, store = str(path), Store()
    notes = Notes(where)
    parser: Parser | None
    head = b""
    if options.format == Parquet.name or (options.format is None and _is_parquet(path)):
        table = Parquet(options, notes)
        for rows in table.rows_of(path):
            store.extend(rows)
        parser, told = table, [notes]
    else:
        race = Race(options, where)
        for chunk in chunks(path, notes):
            head = head or chunk[: 4 * EXAMPLE_WIDTH]
            store.extend(race.feed(chunk))
            if race.hopeless:
                break
        for rest in race.end():
            store.extend(rest)
        parser, told = race.winner, [notes, *race.notes]
    if parser is None or not len(store):
        raise _nothing(where, head, options, told)
    return Part(where, name, store, parser, tuple(told))


def _is_parquet(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise LogError(str(path), f"cannot be read ({error.strerror or error}).") from None


def _nothing(where: str, head: bytes, options: Options, told: list[Notes]) -> LogError:
    """Return the error for a file without losses: what it begins with, and what was found instead."""
    if not head and not any(list(notes) for notes in told):
        return LogError(where, "no losses in it: it is empty, or a table without a column of losses.", "--loss COLUMN")
    shown = Notes(where)
    shown.add("begins", head)
    begins = next(iter(shown)).example
    if options.format is not None:
        seen = "; ".join(f"{note.count} {note.what}" for notes in told for note in notes)
        return LogError(
            where, f"no losses found as format {options.format} ({seen or 'nothing'}).", "leave --format out"
        )
    fix = f"name columns with --loss and --step (--step row counts records), or a --format ({', '.join(FORMATS)})"
    return LogError(where, f"no losses were recognised in it; it begins with {begins!r}.", fix)
