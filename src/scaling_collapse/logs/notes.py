"""What a reader tells besides numbers: counted notes on all that it dropped or repaired, and what it guessed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

#: Characters of a line that a note shows.
EXAMPLE_WIDTH = 60


#: What is counted, for a count of one.
_ONE = {"lines": "line", "losses": "loss", "records": "record", "columns": "column", "rows": "row", "curves": "curve"}
_ONE |= {"steps": "step", "runs": "run", "places": "place", "iterations": "iteration", "bytes": "byte", "facts": "fact"}
_ONE |= {"headers": "header", "tracebacks": "traceback", "streams": "stream", "lists": "list"}


@dataclass(frozen=True)
class Note:
    """`count` times `what` in file or run `where`; `example` is the first of them. `lost` if losses are missing."""

    where: str
    count: int
    what: str
    example: str = ""
    lost: bool = False

    @property
    def line(self) -> str:
        """What was dropped or repaired, how often, and the first example."""
        words = self.what.split(" ")
        place = next((i for i, word in enumerate(words) if word.rstrip(",:") in _ONE), None)
        if self.count == 1 and place is not None:
            word = words[place].rstrip(",:")
            words[place] = words[place].replace(word, _ONE[word])
        shown = f" (first: {self.example})" if self.example and self.count > 1 else f" ({self.example})"
        return f"{self.count:,} {' '.join(words)}{shown if self.example else ''}"

    def __str__(self) -> str:
        return f"{self.where}: {self.line}"


@dataclass(frozen=True)
class Guess:
    """`what` of file `where` was taken to be `value`; `option` says otherwise."""

    where: str
    what: str
    value: str
    option: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}: {self.value} ({self.option} sets it)"


class Notes:
    """Counts by kind, with the first example of each."""

    def __init__(self, where: str) -> None:
        self.where = where
        self._counts: dict[str, int] = {}
        self._examples: dict[str, str] = {}
        self._lost: set[str] = set()

    def add(self, what: str, example: str | bytes = "", count: int = 1, lost: bool = False) -> None:
        """Count one more of `what`. `lost`: a loss may be missing for it."""
        if what in self._counts:
            self._counts[what] += count
            return
        self._counts[what] = count
        if lost:
            self._lost.add(what)
        if example:
            self._examples[what] = _short(example)

    def __iter__(self) -> Iterator[Note]:
        for what, count in self._counts.items():
            yield Note(self.where, count, what, self._examples.get(what, ""), what in self._lost)


def _short(example: str | bytes) -> str:
    """Return at most EXAMPLE_WIDTH printable characters."""
    text = example[: 4 * EXAMPLE_WIDTH]
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= EXAMPLE_WIDTH else text[: EXAMPLE_WIDTH - 3] + "..."
