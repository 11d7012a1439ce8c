"""Normalised loss curves: l(t_hat) = (L(t_hat) - L0)/(L(T) - L0) (sections 1 and 10; Eq. of Qiu et al. 2507.02119)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from scaling_collapse.curves.curve import FINISHED, Curve
from scaling_collapse.curves.difficulty import adjusted_loss
from scaling_collapse.curves.smooth import AUTOMATIC, RAW, Smoothing
from scaling_collapse.errors import CurveError


@dataclass(frozen=True)
class Normalisation:
    """How to normalise: smoothing, offset L0 [nats], which final loss L(T), and whether text difficulty is taken out.

    `offset` "irreducible" is the L0 that the table has for each run (exact where the corpus has a known floor).
    `final`: "smoothed" is the last value of the smoothed curve (so that l ends at 1), "raw" the last loss as logged,
    a number a loss from elsewhere [nats], e.g. the validation loss or a prediction. `adjust` uses the difficulty of
    the batches where the table has it.
    """

    smoothing: Smoothing = AUTOMATIC
    offset: float | Literal["irreducible"] = 0.0
    final: Literal["smoothed", "raw"] | float = "smoothed"
    adjust: bool = True


#: For training losses: smoothed, divided by the last smoothed value.
TRAINING = Normalisation()

#: For validation losses: the same text at every point, so there is no noise to smooth away.
VALIDATION = Normalisation(smoothing=RAW)


def normalise(loss: np.ndarray, final: float, offset: float = 0.0) -> np.ndarray:
    """Return (loss - offset)/(final - offset). Raises CurveError unless final > offset and all is finite."""
    if not (np.isfinite(final) and np.isfinite(offset) and final > offset):
        raise CurveError("normalisation", f"final loss {final:.6g} must exceed the offset {offset:.6g}.")
    return np.asarray((loss - offset) / (final - offset))


def smoothed_loss(curve: Curve, normalisation: Normalisation = TRAINING) -> np.ndarray:
    """Return the curve's loss [nats], adjusted for the difficulty of its batches and smoothed, shape (n,)."""
    loss = adjusted_loss(curve.loss, curve.difficulty) if normalisation.adjust else curve.loss
    return normalisation.smoothing(loss, position(curve, normalisation.smoothing))


def normalised(curve: Curve, normalisation: Normalisation = TRAINING) -> np.ndarray:
    """Return l of the curve at its points, shape (n,).

    Raises CurveError for a run that did not finish, unless `final` is a number.
    """
    return normalise_smoothed(curve, smoothed_loss(curve, normalisation), normalisation)


def normalise_smoothed(curve: Curve, smoothed: np.ndarray, normalisation: Normalisation = TRAINING) -> np.ndarray:
    """Return l of the curve, whose `smoothed` loss [nats] is known already; errors as `normalised`."""
    final = final_loss(curve, smoothed, normalisation.final)
    return normalise(smoothed, final, offset(curve, normalisation.offset))


def offset(curve: Curve, chosen: float | Literal["irreducible"]) -> float:
    """Return L0 [nats]. Raises CurveError where the irreducible loss is chosen but the table does not have it."""
    if not isinstance(chosen, str):
        return float(chosen)
    known = curve.irreducible_nats
    if not np.isfinite(known):
        raise CurveError(
            curve.run,
            "the irreducible loss of its text is not known.",
            "use offset: zero, or fill column irreducible_nats, e.g. from a fit over sizes (curves/irreducible.py)",
        )
    return known


def final_loss(curve: Curve, smoothed: np.ndarray, final: Literal["smoothed", "raw"] | float = "smoothed") -> float:
    """Return L(T) [nats] by the definition `final` (see Normalisation)."""
    if not isinstance(final, str):
        return float(final)
    if curve.t_hat[-1] < FINISHED:
        raise CurveError(
            curve.run,
            f"it stops at {curve.t_hat[-1]:.1%} of its training, so its final loss is not known.",
            "finish the run, or give the final loss",
        )
    return float(smoothed[-1] if final == "smoothed" else curve.loss[-1])


def position(curve: Curve, smoothing: Smoothing) -> np.ndarray:
    """Return the curve's positions in the smoothing's unit. Raises CurveError where tokens are not known."""
    if smoothing.unit == "tokens" and not np.isfinite(curve.tokens).all():
        raise CurveError(curve.run, "its tokens are not known, so it cannot be smoothed over tokens.", "use fractions")
    return {"fraction": curve.t_hat, "steps": curve.steps, "tokens": curve.tokens}[smoothing.unit]
