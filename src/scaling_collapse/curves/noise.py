"""Noise of a normalised curve without repeats, from the high-frequency residuals of the curve itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scaling_collapse.curves.curve import Curve
from scaling_collapse.curves.difficulty import adjusted_loss
from scaling_collapse.curves.grid import FIRST_FRACTION, GRID, to_grid
from scaling_collapse.curves.measures import PERCENT
from scaling_collapse.curves.normalise import TRAINING, Normalisation, normalise_smoothed, position
from scaling_collapse.curves.smooth import AUTOMATIC
from scaling_collapse.errors import CurveError

#: Neighbouring residuals that are drawn together, so that short correlations survive.
BLOCK = 8

DRAWS = 32


def residual_noise(
    curve: Curve, normalisation: Normalisation = TRAINING, grid: np.ndarray = GRID, seed: int = 0
) -> np.ndarray:
    """Return the standard deviation of l at each grid point, in percent, that the noise of the losses explains.

    Relative residuals from the smooth course, drawn in blocks with replacement, make new noisy curves (a block
    bootstrap), each of which is smoothed and normalised again: so the noise of L(T) and its correlation with the curve
    are in. What has no high frequency, such as the draw of the initial weights, is not: two seeds may differ by more.
    """
    loss = adjusted_loss(curve.loss, curve.difficulty) if normalisation.adjust else curve.loss
    course = AUTOMATIC(loss, curve.t_hat)
    residuals = (loss / course - 1)[curve.t_hat >= FIRST_FRACTION]  # before, the loss falls too fast to know its course
    if len(residuals) < 2 * BLOCK:
        raise CurveError(curve.run, f"{len(residuals)} points are too few to tell noise from course.", "train longer")
    rng = np.random.default_rng(seed)
    starts = rng.integers(len(residuals) - BLOCK + 1, size=(DRAWS, -(-len(loss) // BLOCK)))
    drawn = residuals[starts[..., None] + np.arange(BLOCK)].reshape(DRAWS, -1)[:, : len(loss)]
    noisy, where = course * (1 + drawn), position(curve, normalisation.smoothing)
    smoothed = normalisation.smoothing(noisy, where)

    def l_of(raw: np.ndarray, smooth: np.ndarray) -> np.ndarray:
        return to_grid(curve.t_hat, normalise_smoothed(replace(curve, loss=raw), smooth, normalisation), grid)

    return np.asarray(PERCENT * np.std([l_of(*pair) for pair in zip(noisy, smoothed, strict=True)], axis=0, ddof=1))
