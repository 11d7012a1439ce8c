"""The irreducible loss L0 of a family, from a power law with offset through its final losses (Qiu et al.)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scaling_collapse.curves.curve import Curve
from scaling_collapse.curves.normalise import TRAINING, Normalisation, final_loss, smoothed_loss
from scaling_collapse.errors import CurveError
from scaling_collapse.scaling.power_law import PowerLawFit, fit_power_law_with_offset


def fit_irreducible_loss(curves: Sequence[Curve], normalisation: Normalisation = TRAINING) -> PowerLawFit:
    """Fit L(T) = L0 + A*(N*D)^b over finished runs of one recipe and at least three sizes; `.offset` is L0 [nats].

    Read `.warnings`: few sizes hardly determine L0. Raises CurveError for fewer than three sizes, or unknown N or D.
    """
    compute = np.array([curve.size_params * float(curve.facts["tokens_total"]) for curve in curves])
    if not np.isfinite(compute).all():
        raise CurveError("irreducible loss", "parameters or tokens of a run are not known.")
    if len(np.unique(compute)) < 3:
        raise CurveError("irreducible loss", f"{len(np.unique(compute))} size(s); the fit needs at least three.")
    final = [final_loss(curve, smoothed_loss(curve, normalisation), normalisation.final) for curve in curves]
    return fit_power_law_with_offset(compute, final)
