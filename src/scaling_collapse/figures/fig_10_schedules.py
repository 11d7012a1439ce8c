"""Fig 10: how the timescale shapes the curve under a constant, a tenfold decaying and a to-zero learning rate."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from scaling_collapse.figures.collapse import sweep
from scaling_collapse.figures.columns import Column, draw_columns
from scaling_collapse.figures.context import FigureContext

COLUMNS = {
    "schedule_constant": "constant rate",
    "schedule_10x": "linear to 10%",
    "schedule_linear": "linear to zero",
}


def draw(curves: dict[str, pd.DataFrame], context: FigureContext) -> tuple[Figure, pd.DataFrame]:
    """Return a sweep of tau under each schedule, and the curves drawn."""
    columns = {group: Column(title, sweep(curves[group], context), "tau") for group, title in COLUMNS.items()}
    return draw_columns(columns, context)
