"""Fig 23: what it costs to stop a sweep early and keep one run, chosen by each of three rules."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from scaling_collapse.figures.context import FigureContext
from scaling_collapse.figures.early_stopping import draw_costs
from scaling_collapse.figures.sweeps import BATCH


def draw(curves: dict[str, pd.DataFrame], context: FigureContext) -> tuple[Figure, pd.DataFrame]:
    """Return what the rules cost against the stop point for two sweeps of the batch, and the numbers drawn."""
    return draw_costs(BATCH, "batch_tokens", curves, context)
