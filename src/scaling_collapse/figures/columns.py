"""The layout of most figures: columns of normalised curves, each with its deviation from the mean below it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure

from scaling_collapse.figures import legend, panels, style
from scaling_collapse.figures.collapse import Family
from scaling_collapse.figures.context import FigureContext
from scaling_collapse.figures.lines import tidy, unfinished_words

HEIGHT = 4.5  # inches


@dataclass(frozen=True)
class Column:
    """Title and curves of a column, the `fact` that colours the curves, and the columns of its legend."""

    title: str
    family: Family
    fact: str = "size_params"
    legend: tuple[str, ...] = ("size", "tpp", "tau")


def draw_columns(
    columns: Mapping[str, Column], context: FigureContext, remark: str = ""
) -> tuple[Figure, pd.DataFrame]:
    """Return the figure of `columns` (by run group) with a `remark` below it, and the curves drawn.

    All columns have the same ranges; those coloured by one fact have the same colours. Runs without a final loss are
    not drawn but named. Raises FigureError where no curve is left.
    """
    figure = Figure(figsize=(context.width, HEIGHT), layout="constrained")
    rows = figure.subplots(2, len(columns), sharey="row", squeeze=False, height_ratios=[1.9, 1.0])
    lines = [line for column in columns.values() for line in column.family.lines]
    blank = " " if any(column.family.words() for column in columns.values()) else ""  # keeps titles in one line
    for index, column in enumerate(columns.values()):
        upper, lower = rows[:, index]
        alike = [line for other in columns.values() if other.fact == column.fact for line in other.family.lines]
        colour_of = panels.colours_by(column.fact, alike)
        panels.draw_band(upper, column.family)
        panels.draw_normalised(upper, column.family.lines, colour_of)
        panels.draw_deviation(lower, column.family, colour_of)
        keep = "size" if column.fact == "size_params" else column.fact
        legend.add(upper, legend.table(column.family.lines, colour_of, column.legend, keep))
        style.letter(upper, index, column.title, column.family.words() or blank)
    panels.limit_normalised(rows[0], lines)
    panels.limit_deviation(rows[1], [column.family for column in columns.values()])
    panels.share_labels(rows, style.T_HAT, [style.NORMALISED_LOSS, panels.DEVIATION])
    figure.align_ylabels(rows[:, 0])
    problems = dict.fromkeys(column.family.problem for column in columns.values())
    style.note(figure, remark, *problems, unfinished_words(lines))
    return figure, tidy({group: column.family.lines for group, column in columns.items()})
