"""What every format's parser is: bytes in, rows out, in the order of the file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, ClassVar

from scaling_collapse.logs.notes import Notes
from scaling_collapse.logs.options import Options

#: One loss: run ("" for the file's own), column, step, loss, learning rate, tokens seen (NaN where not said).
Row = tuple[str, str, int, float, float, float]

NAN = math.nan

#: Steps are kept as whole numbers that a float holds exactly.
MAX_STEP = 2**53

OTHER_LINES = "lines without a loss (not a log line of this format)"
DAMAGED = "damaged lines, left out"
NO_STEP = "losses without a step, left out (--step names its column; --step row counts them)"
NOT_A_STEP = "losses with a step that is no whole number, left out"
NOT_A_NUMBER = "unreadable losses, left out"


@dataclass(frozen=True)
class Columns:
    """Many rows of one run and column, as columns: what clean blocks of tables come to, and cheaper than rows."""

    run: str
    column: str
    steps: Sequence[int]
    losses: Sequence[float]
    lrs: Sequence[float] | None
    tokens: Sequence[float] | None

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Row]:
        lrs = repeat(NAN) if self.lrs is None else self.lrs
        tokens = repeat(NAN) if self.tokens is None else self.tokens
        return zip(repeat(self.run), repeat(self.column), self.steps, self.losses, lrs, tokens, strict=False)


Rows = list[Row] | Columns


class Parser:
    """One file's (or growing log's) parser. `read` may be called with any amounts of data, then `end` once.

    `facts` holds what the log says of each run ("" for the file's own): columns of options.FACTS.
    `said` holds what the parser guessed, as {what: (value, option)}.
    """

    name: ClassVar[str]
    #: Whether `read` gets whole lines of text, or bytes just as they come.
    whole_lines: ClassVar[bool] = True

    def __init__(self, options: Options, notes: Notes) -> None:
        self.options, self.notes = options, notes
        self.facts: dict[str, dict[str, Any]] = {}
        self.said: dict[str, tuple[str, str]] = {}
        #: Which of the columns that --step and --run-column name were seen.
        self.columns: set[str] = set()
        #: Name that the log gives its own run; "" where it gives none.
        self.run = ""

    def read(self, data: bytes) -> Rows:
        """Return the losses in the next `data`."""
        raise NotImplementedError

    def end(self, tail: bytes = b"") -> Rows:
        """Return the losses in what was held back; `tail` is a last line without its line end."""
        return []

    def new_file(self) -> None:
        """Be ready for the first byte of another file of the same log (rotation, restart)."""

    def fact(self, run: str, name: str, value: Any) -> None:
        """Remember what the log says of `run`; the later counts."""
        self.facts.setdefault(run, {})[name] = value


def number(value: Any) -> float | None:
    """Return a cell as a float (NaN and infinities included), or None if it is no number."""
    kind = type(value)
    if kind is float:
        return float(value)
    if kind is str:
        if "_" in value or not value.isascii():  # float() takes 1_000 and digits of any script for numbers
            return None
    elif kind is not int:
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def whole(value: Any) -> int | None:
    """Return a cell as a whole number of at most MAX_STEP, or None."""
    if type(value) is int:
        return value if abs(value) <= MAX_STEP else None
    as_float = number(value)
    if as_float is None or not math.isfinite(as_float) or as_float % 1 or abs(as_float) > MAX_STEP:
        return None
    return int(as_float)
