"""From a scale's analysis block to what the measures take."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from scaling_collapse.config.scale import Analysis
from scaling_collapse.curves.normalise import VALIDATION, Normalisation
from scaling_collapse.curves.smooth import Smoothing
from scaling_collapse.errors import CurveError


def grid_of(analysis: Analysis) -> np.ndarray:
    """Return the common grid of training fractions, shape (grid_points,)."""
    return np.linspace(analysis.t_hat_min, analysis.t_hat_max, analysis.grid_points)


def normalisation_of(analysis: Analysis, split: str = "train", sequence_length: int | None = None) -> Normalisation:
    """Return how `analysis` normalises a `split`; validation losses are never smoothed.

    `sequence_length` [tokens] is needed for windows in sequences: CurveError where it is missing.
    """
    offset: float | Literal["irreducible"] = "irreducible" if analysis.offset == "irreducible" else 0.0
    if split == "validation":
        return replace(VALIDATION, offset=offset)
    return Normalisation(smoothing=_smoothing(analysis, sequence_length), offset=offset)


def _smoothing(analysis: Analysis, sequence_length: int | None) -> Smoothing:
    if analysis.smoothing_sequences is not None:
        if sequence_length is None:
            raise CurveError("analysis.smoothing_sequences", "the sequence length is not known.", "use smoothing_steps")
        return Smoothing(unit="tokens", window=float(analysis.smoothing_sequences * sequence_length))
    if analysis.smoothing_steps is not None:
        return Smoothing(unit="steps", window=float(analysis.smoothing_steps))
    return Smoothing()
