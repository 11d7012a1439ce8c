"""Fig 21: losses on held-out text collapse as training losses do (80 tokens per parameter, one point every 5%)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from scaling_collapse.figures.collapse import family
from scaling_collapse.figures.columns import Column, draw_columns
from scaling_collapse.figures.context import FigureContext

GROUP = "celerity_80tpp"
TITLES = {"validation": "held-out text", "train": "training text, for comparison"}


def draw(curves: dict[str, pd.DataFrame], context: FigureContext) -> tuple[Figure, pd.DataFrame]:
    """Return normalised validation losses beside the training losses of the same runs, and the curves drawn."""
    columns = {split: Column(title, family(curves[GROUP], context, split)) for split, title in TITLES.items()}
    return draw_columns(columns, context, "validation losses are not smoothed")
