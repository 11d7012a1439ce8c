"""Legends as small tables: a stroke of the line's colour, then columns such as N, TPP and tau, aligned.

What all lines share stands once, above the table: '20 TPP, tau 0.175'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.offsetbox import AnchoredOffsetbox, DrawingArea
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from matplotlib.textpath import TextPath

from scaling_collapse.figures import style
from scaling_collapse.figures.lines import Line

#: Heading of each column, and how a value that all lines share is said.
HEADINGS = {
    "size": ("N", "N = {}"),
    "tpp": ("TPP", "{} TPP"),
    "tau": (r"$\tau$", r"$\tau$ = {}"),
    "batch_tokens": ("B", "B = {} tokens"),
    "lr_peak": (r"$\eta$", r"$\eta$ = {}"),
    "weight_decay": (r"$\lambda$", r"$\lambda$ = {}"),
}

# In points.
_PITCH, _STROKE, _GAP, _MARGIN = 9.6, 11.0, 5.0, 2.0


@dataclass(frozen=True)
class Key:
    """One row: the colour of a line and the cells beside it."""

    colour: style.Colour
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A legend's contents: the remark above, the headings, the rows."""

    title: str
    headings: tuple[str, ...]
    keys: tuple[Key, ...]


def cell(line: Line, column: str) -> str:
    """Return what a legend says about a run in `column` (see HEADINGS)."""
    if column == "size":
        return line.size
    value = line.fact(column)
    match column:
        case "tau":
            return f"{value:.2g}" if value < 0.01 else f"{value:.3f}".rstrip("0").rstrip(".")
        case "tpp" if value >= 10:
            return f"{value:.0f}"
        case "tpp" | "lr_peak" | "weight_decay":
            return f"{value:.2g}"
    return style.number(value)


def table(lines: Sequence[Line], colour_of: dict[str, style.Colour], columns: Sequence[str], keep: str) -> Table:
    """Return the legend of `lines`: one row for each distinct row of cells, in their order; `colour_of` is by run.

    Columns that all lines share go into the title, but for the column `keep`, which tells the lines apart.
    """
    values = {name: [cell(line, name) for line in lines] for name in columns}
    shared = [name for name in columns if name != keep and len(set(values[name])) == 1]
    shown = [name for name in columns if name not in shared]
    keys: dict[tuple[str, ...], Key] = {}
    for index, line in enumerate(lines):
        cells = tuple(values[name][index] for name in shown)
        keys.setdefault(cells, Key(colour_of[line.run], cells))
    parts = [HEADINGS[name][1].format(values[name][0]) for name in shared]
    title = ", ".join([*parts, "B in tokens"] if "batch_tokens" in shown else parts)
    return Table(title, tuple(HEADINGS[name][0] for name in shown), tuple(keys.values()))


def add(axes: Axes, legend: Table, loc: str = "upper right") -> None:
    """Draw a legend into a corner of `axes`; letters have a white halo, which keeps them legible on lines."""
    rows = [legend.headings, *(key.cells for key in legend.keys)]
    widths = [max(_width(row[index]) for row in rows) for index in range(len(legend.headings))]
    right_edges, edge = [], _STROKE
    for width in widths:
        edge += _GAP + width
        right_edges.append(edge)
    total = max(edge, _width(legend.title))
    shift = total - edge  # a long title: the table goes to the right below it
    lines = len(rows) + bool(legend.title)
    area = DrawingArea(total, lines * _PITCH)
    baselines = [(lines - 1 - row) * _PITCH + 2.4 for row in range(lines)]
    if legend.title:
        area.add_artist(_text(total, baselines.pop(0), legend.title, style.GREY))
    for row, (cells, baseline) in enumerate(zip(rows, baselines, strict=True)):
        for right, words in zip(right_edges, cells, strict=True):
            area.add_artist(_text(shift + right, baseline, words, style.INK if row else style.GREY))
        if row:
            y = baseline + 2.5
            colour = legend.keys[row - 1].colour
            area.add_artist(Line2D([shift + 1, shift + _STROKE - 1], [y, y], color=colour, lw=2))
    box = AnchoredOffsetbox(loc, child=area, pad=0, borderpad=_MARGIN / style.TINY, frameon=False)
    box.set_zorder(5)
    box.set_in_layout(False)
    axes.add_artist(box)


def _text(x: float, y: float, words: str, colour: str) -> Text:
    halo = [withStroke(linewidth=2.2, foreground="white")]
    return Text(x, y, words, fontsize=style.TINY, color=colour, ha="right", va="baseline", path_effects=halo)


def _width(words: str) -> float:
    """Return the printed width of `words` [points], from the font's outlines alone."""
    return float(TextPath((0, 0), words, size=style.TINY).get_extents().x1) if words.strip() else 0.0
