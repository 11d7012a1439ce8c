"""Fig 11: sizes of equal TPP and timescale collapse under each learning-rate schedule, onto a curve of its own."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from scaling_collapse.figures.collapse import family
from scaling_collapse.figures.columns import Column, draw_columns
from scaling_collapse.figures.context import FigureContext

COLUMNS = {
    "schedule_sizes_constant": "constant rate",
    "schedule_sizes_10x": "linear to 10%",
    "schedule_sizes_linear": "linear to zero",
}


def draw(curves: dict[str, pd.DataFrame], context: FigureContext) -> tuple[Figure, pd.DataFrame]:
    """Return a family of sizes under each schedule, and the curves drawn."""
    columns = {group: Column(title, family(curves[group], context)) for group, title in COLUMNS.items()}
    return draw_columns(columns, context)
