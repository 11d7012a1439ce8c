"""The universal curve that a run in progress is compared with: a finished sibling, or a surrogate's curve, as data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scaling_collapse.curves.curve import Curve
from scaling_collapse.curves.normalise import TRAINING, VALIDATION, Normalisation, normalised
from scaling_collapse.errors import CurveError

#: A template ends at t_hat = 1 and l = 1, within this.
END_TOLERANCE = 0.01


@dataclass(frozen=True)
class Template:
    """A normalised curve: arrays of shape (n,), `t_hat` increasing to 1, `normalised` loss l positive and 1 at the end.

    `tpp`, `tau`, `size_params` and `steps` (optimiser steps of the whole run) are NaN where not known, `schedule` is
    then empty. `source` says in words where it comes from. `walk` is the standard deviation of the walk in time by
    which the curve itself may be wrong (0 for a run), `foreign` says that it comes from another family of models.
    Raises CurveError for arrays that are no such curve.
    """

    t_hat: np.ndarray
    normalised: np.ndarray
    source: str
    tpp: float = float("nan")
    tau: float = float("nan")
    schedule: str = ""
    size_params: float = float("nan")
    steps: float = float("nan")
    walk: float = 0.0
    foreign: bool = False

    def __post_init__(self) -> None:
        problem = _fault(np.asarray(self.t_hat), np.asarray(self.normalised))
        if problem:
            raise CurveError(f"template {self.source}", problem, "give t_hat increasing to 1, and loss over final loss")

    def at(self, t_hat: np.ndarray) -> np.ndarray:
        """Return l at `t_hat`, linearly interpolated."""
        return np.asarray(np.interp(t_hat, self.t_hat, self.normalised))


def default_normalisation(split: str) -> Normalisation:
    """Return how losses of `split` are normalised: those of training smoothed, all others as they are.

    Public tables of validation losses give the final loss as the last value, and so do we (docs/lab-notebook.md).
    """
    return TRAINING if split == "train" else VALIDATION


def template_of(curve: Curve, normalisation: Normalisation | None = None) -> Template:
    """Return the template that a finished run makes. Raises CurveError for one that did not finish."""
    chosen = default_normalisation(curve.split) if normalisation is None else normalisation
    return Template(
        t_hat=curve.t_hat,
        normalised=normalised(curve, chosen),
        source=curve.run,
        tpp=curve.tpp,
        tau=curve.tau,
        schedule=str(curve.facts.get("schedule") or ""),
        size_params=curve.size_params,
        steps=total_steps(curve),
    )


def total_steps(curve: Curve) -> float:
    """Return the optimiser steps of the whole run, which a run in progress has not taken yet."""
    return float(curve.steps[-1] / curve.t_hat[-1])


def _fault(t_hat: np.ndarray, values: np.ndarray) -> str:
    if t_hat.ndim != 1 or t_hat.shape != values.shape or len(t_hat) < 2:
        return f"t_hat {t_hat.shape} and l {values.shape}; need two equal vectors of at least two points"
    if not (np.isfinite(t_hat).all() and np.isfinite(values).all() and (values > 0).all()):
        return "t_hat or l has values that are not finite, or l is not positive"
    if not ((np.diff(t_hat) > 0).all() and t_hat[0] >= 0):
        return "t_hat does not increase from point to point"
    if abs(t_hat[-1] - 1) > END_TOLERANCE or abs(values[-1] - 1) > END_TOLERANCE:
        return f"it ends at t_hat {t_hat[-1]:.4g} with l {values[-1]:.4g}; both must be 1"
    return ""
