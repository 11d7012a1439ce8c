"""Fig 4: at one timescale the tokens per parameter set the shape of the curve; the size of the model does not."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from scaling_collapse.figures.collapse import family, sweep
from scaling_collapse.figures.columns import Column, draw_columns
from scaling_collapse.figures.context import FigureContext


def draw(curves: dict[str, pd.DataFrame], context: FigureContext) -> tuple[Figure, pd.DataFrame]:
    """Return a sweep of TPP for a small and a large model, a family of sizes at one TPP, and the curves drawn."""
    columns = {
        "tpp_small": Column("small model, TPP varies", sweep(curves["tpp_small"], context), "tpp"),
        "tpp_large": Column("larger model, TPP varies", sweep(curves["tpp_large"], context), "tpp"),
        "sizes_20tpp": Column("size varies", family(curves["sizes_20tpp"], context)),
    }
    return draw_columns(columns, context)
