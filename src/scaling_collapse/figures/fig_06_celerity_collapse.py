"""Fig 6 left and middle: Celerity families of several sizes on one curve, at 20 and at 80 tokens per parameter."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from scaling_collapse.figures.collapse import family
from scaling_collapse.figures.columns import Column, draw_columns
from scaling_collapse.figures.context import FigureContext

COLUMNS = {"celerity_20tpp": "Celerity, 20 TPP", "celerity_80tpp": "Celerity, 80 TPP"}


def draw(curves: dict[str, pd.DataFrame], context: FigureContext) -> tuple[Figure, pd.DataFrame]:
    """Return the normalised curves and their deviations at 20 and 80 TPP, and the curves drawn."""
    columns = {group: Column(title, family(curves[group], context)) for group, title in COLUMNS.items()}
    return draw_columns(columns, context)
