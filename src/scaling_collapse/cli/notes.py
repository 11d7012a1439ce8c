"""Warnings of many runs, each said once: alike ones are merged, numbers that differ become a range."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

#: A number that stands alone; those within the names of runs are part of the name.
_NUMBER = re.compile(r"(?:(?<![\w.\-+])[-+]?|(?<=\+-))\d+(?:\.\d+)?(?:e[-+]?\d+)?(?=[\s%);:,.]|$)")

#: Width of tables where there is no terminal.
WIDTH = 120


def console() -> Console:
    """Return where tables go: as wide as the terminal, and wide enough where there is none."""
    from rich.console import Console

    made = Console(highlight=False)
    if not made.is_terminal:
        made.width = max(made.width, WIDTH)
    return made


@dataclass(frozen=True)
class Notes:
    """Merged warnings: each text with the runs that it concerns, of `runs` in all (0 where that says nothing)."""

    texts: tuple[tuple[str, tuple[str, ...]], ...]
    runs: int = 0

    @classmethod
    def of(cls, by_run: Mapping[str, Iterable[str]], runs: int = 0) -> Notes:
        """Return the notes of the warnings of each run; the run's own name at the front of a text is left away."""
        alike: dict[str, list[tuple[str, str]]] = {}
        for run, texts in by_run.items():
            for text in texts:
                bare = text.removeprefix(f"{run}: ")
                alike.setdefault(_NUMBER.sub("#", bare), []).append((run, bare))
        return cls(tuple((_merged([text for _, text in told]), _names(told)) for told in alike.values()), runs)

    def __bool__(self) -> bool:
        return bool(self.texts)

    def letters(self, run: str) -> str:
        """Return the letters of a run's warnings, as they stand before the texts."""
        return " ".join(_letter(index) for index, (_, runs) in enumerate(self.texts) if run in runs)

    def show(self, screen: Console, title: str = "Warnings") -> None:
        """Print each text with its letter and its runs; nothing where there are none."""
        from rich.markup import escape

        if self.texts:
            screen.print(f"\n{title}", style="bold yellow")
        for index, (text, runs) in enumerate(self.texts):
            screen.print(f"  {_letter(index)}  {escape(self._who(runs))}: {escape(text)}", soft_wrap=True)

    def _who(self, runs: Sequence[str]) -> str:
        if len(runs) == self.runs > 2:
            return f"all {self.runs} runs"
        return ", ".join(runs) if len(runs) <= 2 else f"{len(runs)} runs"


def _merged(texts: Sequence[str]) -> str:
    """Return one text for all: numbers that differ are given from the smallest to the largest."""
    places = list(zip(*(_NUMBER.findall(text) for text in texts), strict=True))
    words = iter([low if low == high else f"{low} to {high}" for low, high in map(_ends, places)])
    return _NUMBER.sub(lambda _: next(words), texts[0])


def _ends(numbers: Sequence[str]) -> tuple[str, str]:
    return min(numbers, key=float), max(numbers, key=float)


def _names(told: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(run for run, _ in told))


def _letter(index: int) -> str:
    return chr(ord("a") + index) if index < 26 else f"a{index}"
