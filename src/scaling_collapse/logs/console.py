"""Parsers of what trainers print, a line at a time."""

from __future__ import annotations

import re
from typing import ClassVar

from scaling_collapse.logs.lines import BREAK
from scaling_collapse.logs.parser import DAMAGED, NAN, OTHER_LINES, Parser, Row

#: A number as Python and C print it; NaN and infinities too. No two ways to match the same text: linear time.
NUMBER = rb"[-+]?(?:\d{1,40}(?:\.\d{0,40})?(?:[eE][-+]?\d{1,4})?|[nN][aA][nN]|[iI][nN][fF](?:inity)?)"
#: What a number is made of: matched quickly, and then read or refused by float().
DIGITS = rb"[-+.0-9eEnNaAiIfFtTyY]{1,40}"
STEP = rb"\d{1,15}"

TRACEBACK = "tracebacks"
ANSI_COLOURS = re.compile(rb"\x1b\[[0-9;]{0,20}m")

TRAIN, VALIDATION = "train loss", "val loss"


class Console(Parser):
    """`PATTERN` matches a line of interest and ends each alternative with an empty group of its kind's name;
    `BEGINS` matches what can only be such a line, so that damaged ones are told from others.
    """

    PATTERN: ClassVar[re.Pattern[bytes]]
    BEGINS: ClassVar[re.Pattern[bytes]]
    #: Whether the line may begin with something else (a time, a rank).
    ANYWHERE: ClassVar[bool] = False

    def read(self, data: bytes) -> list[Row]:
        """Return the losses of whole lines."""
        if b"\x1b" in data:
            data = ANSI_COLOURS.sub(b" ", data)  # a space, so that no two digits are joined
        rows: list[Row] = []
        find = self.PATTERN.search if self.ANYWHERE else self.PATTERN.match
        take = self.take
        for line in data.split(b"\n"):
            found = find(line)
            if found is None:
                if line:
                    self._other(line)
                continue
            try:
                take(found, rows)
            except ValueError:
                self.notes.add(DAMAGED, line, lost=True)
        return rows

    def end(self, tail: bytes = b"") -> list[Row]:
        """Return the losses of a last line without line end, as far as they are complete."""
        return self.read(tail + BREAK) if tail else []

    def take(self, found: re.Match[bytes], rows: list[Row]) -> None:
        """Append the losses of a line; `found.lastgroup` is its kind. Raises ValueError for what is no number."""
        rows.append(("", TRAIN, int(found[1]), float(found[2]), NAN, NAN))

    def _other(self, line: bytes) -> None:
        begins = self.BEGINS.search if self.ANYWHERE else self.BEGINS.match
        if begins(line):
            self.notes.add(DAMAGED, line, lost=True)
        elif b"Traceback (most recent call last)" in line:
            self.notes.add(TRACEBACK, line)
        else:
            self.notes.add(OTHER_LINES, line)
