"""Fig 25: how far the predicted final loss and the current loss are from the final loss, at each stop point."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from scaling_collapse.figures.context import FigureContext
from scaling_collapse.figures.early_stopping import draw_errors
from scaling_collapse.figures.sweeps import BATCH


def draw(curves: dict[str, pd.DataFrame], context: FigureContext) -> tuple[Figure, pd.DataFrame]:
    """Return the errors of both losses for two sweeps of the batch, and the numbers drawn."""
    return draw_errors(BATCH, curves, context)
