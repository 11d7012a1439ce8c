"""Recognising a format from content: every candidate reads along until one of them has found losses."""

from __future__ import annotations

from scaling_collapse.logs.lines import Lines
from scaling_collapse.logs.notes import Notes
from scaling_collapse.logs.options import Options
from scaling_collapse.logs.parser import Parser, Rows
from scaling_collapse.logs.registry import LAST_RESORT, TEXT, binary_format, format_named

#: First bytes that are waited for before a format of bytes is ruled out.
HEAD = 64

#: Most bytes and lines before the first loss: they are read by all candidates at once, at 1.5 MB/s.
MAX_PREAMBLE, MAX_PREAMBLE_LINES = 1 << 25, 500_000


class Race:
    """Feeds bytes to the candidates, then to the winner alone. `winner` is None until losses are found."""

    def __init__(self, options: Options, where: str) -> None:
        self._options, self._where = options, where
        self._lines_notes = Notes(where)
        self._lines = Lines(self._lines_notes)
        self._candidates: list[Parser] | None = None
        self._seen = self._seen_lines = 0
        self._head = b""
        self.winner: Parser | None = None

    @property
    def notes(self) -> list[Notes]:
        """What the winner tells, and what was told of lines."""
        return [self._lines_notes] + ([self.winner.notes] if self.winner is not None else [])

    def feed(self, data: bytes) -> Rows:
        """Return the losses of the next bytes."""
        if self._candidates is None:
            data = self._head + data
            if len(data) < HEAD and b"\n" not in data:
                self._head = data
                return []
            self._candidates = self._start(data)
        return self._go_on(data)

    def _go_on(self, data: bytes) -> Rows:
        assert self._candidates is not None
        if self.winner is not None and not self.winner.whole_lines:
            return self.winner.read(data)
        lines = self._lines.feed(data)
        if self.winner is not None:
            return self.winner.read(lines) if lines else []
        self._seen += len(data)
        self._seen_lines += lines.count(b"\n")
        return self._decide([c.read(lines if c.whole_lines else data) for c in self._candidates])

    def end(self) -> list[Rows]:
        """Return the losses of what was held back."""
        rows: list[Rows] = []
        if self._candidates is None:
            self._candidates = self._start(self._head)
            rows.append(self._go_on(self._head))
        tail = self._lines.end()
        if self.winner is not None:
            return [*rows, self.winner.end(tail if self.winner.whole_lines else b"")]
        return [*rows, self._decide([c.end(tail if c.whole_lines else b"") for c in self._candidates])]

    def new_file(self) -> None:
        """Go on with another file of the same log."""
        self._lines.new_file()
        if self.winner is not None:
            self.winner.new_file()

    @property
    def hopeless(self) -> bool:
        """Whether so much was read without a loss that none is expected."""
        return self.winner is None and (self._seen > MAX_PREAMBLE or self._seen_lines > MAX_PREAMBLE_LINES)

    def _start(self, head: bytes) -> list[Parser]:
        if self._options.format is not None:
            kinds: tuple[type[Parser], ...] = (format_named(self._options.format),)
        else:
            binary = binary_format(head)
            kinds = (*TEXT, *LAST_RESORT) if binary is None else (binary,)
        candidates = [kind(self._options, Notes(self._where)) for kind in kinds]
        if len(candidates) == 1:
            self.winner = candidates[0]
        return candidates

    def _decide(self, found: list[Rows]) -> Rows:
        """Take the candidate with most losses; the last resort only if it is alone."""
        counts = [len(rows) for rows in found]
        known = counts[: len(TEXT)] if len(counts) > 1 else counts
        best = max(known, default=0) or max(counts, default=0)
        if not best:
            return []
        place = counts.index(best)
        assert self._candidates is not None
        self.winner = self._candidates[place]
        return found[place]
