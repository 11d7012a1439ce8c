"""One colour for each run, on all pictures and tables of a page, and what the colours mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scaling_collapse.figures import legend, panels, style
from scaling_collapse.figures.lines import Line

#: A legend with more rows than this covers the curves.
MOST_KEYS = 10

#: What can tell runs apart, the first that does: the fact, its column in legends, and how a caption calls it.
_FACTS = (
    ("size_params", "size", "size"),
    ("tau", "tau", "tau"),
    ("tpp", "tpp", "tokens per parameter"),
    ("batch_tokens", "batch_tokens", "batch"),
    ("lr_peak", "lr_peak", "learning rate"),
)


@dataclass(frozen=True)
class Palette:
    """`colour_of` is by run, `words` say what colours mean.

    `key` is the legend, None where it would be too long or each run has its own colour: `by_run`.
    """

    colour_of: dict[str, style.Colour]
    key: legend.Table | None
    words: str
    by_run: bool = False

    def hexadecimal(self, run: str) -> str:
        """Return a run's colour as #rrggbb."""
        return "#" + "".join(f"{round(255 * part):02x}" for part in self.colour_of[run])


def palette_of(lines: Sequence[Line]) -> Palette:
    """Return the colours of lines: by the first fact that all have and that tells some apart, else one for each run."""
    for fact, column, words in _FACTS:
        values = [line.fact(fact) for line in lines]
        if np.isfinite(values).all() and max(values) > style.SAME_TAU * min(values) > 0:
            colour_of = panels.colours_by(fact, lines)
            return Palette(colour_of, _key(lines, colour_of, column), f"by {words}")
    by_place = style.colours("batch", range(len(lines)))
    colour_of = {line.run: by_place[place] for place, line in enumerate(lines)}
    return Palette(colour_of, None, "one for each run", by_run=True)


def _key(lines: Sequence[Line], colour_of: dict[str, style.Colour], column: str) -> legend.Table | None:
    """Return a legend with size, TPP and tau where these are known and few, else of the one column."""
    known = [c for c in ("size", "tpp", "tau") if all(np.isfinite(_number(line, c)) for line in lines)]
    for columns in (tuple(dict.fromkeys([*known, column])), (column,)):
        table = legend.table(lines, colour_of, columns, column)
        if len(table.keys) <= MOST_KEYS:
            return table
    return None


def _number(line: Line, column: str) -> float:
    return line.fact("size_params" if column == "size" else column)
