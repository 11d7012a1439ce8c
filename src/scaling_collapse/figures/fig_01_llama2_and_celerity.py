"""Fig 1 left and middle: families scaled as is common do not collapse, Celerity at 234 tokens per parameter does.

The paper's left panel shows Llama 2, whose curves were never published; two families of ours stand in for it.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from scaling_collapse.figures.collapse import family
from scaling_collapse.figures.columns import Column, draw_columns
from scaling_collapse.figures.context import FigureContext

COLUMNS = {
    "fixed_weight_decay": "one weight decay for all",
    "equal_tokens": "equal tokens for all",
    "celerity_234tpp": "Celerity, 234 TPP",
}
REMARK = "a, b: our runs in the place of Llama 2 (b as Llama 2 was scaled), whose training curves are not published"


def draw(curves: dict[str, pd.DataFrame], context: FigureContext) -> tuple[Figure, pd.DataFrame]:
    """Return the mis-scaled families beside the one that collapses, and the curves drawn."""
    columns = {group: Column(title, family(curves[group], context)) for group, title in COLUMNS.items()}
    return draw_columns(columns, context, REMARK)
