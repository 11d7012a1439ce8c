"""A common grid of training fractions, and interpolation onto it that never extrapolates silently."""

from __future__ import annotations

from typing import Literal

import numpy as np

from scaling_collapse.errors import CurveError

#: Measures leave out the first 20% of training (section 2).
FIRST_FRACTION = 0.2

#: Fractions of training t_hat in [0.2, 1] at every 0.5%.
GRID = np.linspace(FIRST_FRACTION, 1.0, 161)

#: A point may lie outside a curve by this much of t_hat, which is what rounding of token counts does.
ROUNDING = 1e-6


def to_grid(
    t_hat: np.ndarray, values: np.ndarray, grid: np.ndarray = GRID, outside: Literal["error", "nan"] = "error"
) -> np.ndarray:
    """Return `values` (n,) at increasing `t_hat` (n,), linearly interpolated at `grid` (g,).

    Grid points before the first or after the last point raise CurveError, or give NaN with outside="nan".
    """
    if not (np.diff(t_hat) > 0).all():
        raise CurveError("grid", "training fractions do not increase from point to point.")
    beyond = (grid < t_hat[0] - ROUNDING) | (grid > t_hat[-1] + ROUNDING)
    if outside == "error" and beyond.any():
        raise CurveError(
            "grid",
            f"the curve covers t_hat {t_hat[0]:.4g} to {t_hat[-1]:.4g}, the grid {grid.min():.4g} to {grid.max():.4g}.",
            "finish the run, or use a grid inside the curve",
        )
    return np.where(beyond, np.nan, np.interp(grid, t_hat, values))
