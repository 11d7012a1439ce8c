"""What a figure is drawn from, besides its curves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scaling_collapse.config.figures import FigureEntry
from scaling_collapse.config.scale import Analysis
from scaling_collapse.curves.analysis import grid_of, normalisation_of
from scaling_collapse.errors import FigureError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from scaling_collapse.curves.normalise import Normalisation

#: Key under which a figure with `all_runs` finds the curves of all runs of the scale.
ALL_RUNS = "all runs"


@dataclass(frozen=True)
class FigureContext:
    """Settings of one drawing.

    `scale` is its name, `width` the figure's in inches, `sequence_length` [tokens] that of the scale's models (None
    where they differ), `tables` the published tables by file name and the scale's own by name.
    """

    entry: FigureEntry
    scale: str
    analysis: Analysis = field(default_factory=Analysis)
    width: float = 6.75
    sequence_length: int | None = None
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)

    @property
    def grid(self) -> np.ndarray:
        """The common grid of training fractions on which measures are taken."""
        return grid_of(self.analysis)

    def normalisation(self, split: str) -> Normalisation:
        """Return how the scale smooths and normalises the losses of a split."""
        return normalisation_of(self.analysis, split, self.sequence_length)

    def table(self, name: str) -> pd.DataFrame:
        """Return a table by its name. Raises FigureError unless config/figures.yaml lists it for this figure."""
        if name not in self.tables:
            fix = "add it to published or tables in config/figures.yaml"
            raise FigureError(f"figure {self.entry.name}", f"{name} is not among its tables.", fix)
        return self.tables[name]
