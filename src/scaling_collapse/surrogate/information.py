"""How precisely curves determine the parameters of a fit by mean absolute error, without fitting again.

Least absolute deviations have the covariance H^-1 S H^-1, with the density of the residuals at 0 in H and the scatter
of the pulls in S (Koenker and Bassett 1978; H by Powell's kernel). Runs are the clusters of S: points of a run share
its noise and its misfit, and only runs are independent of each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scaling_collapse.surrogate.problem import Problem

#: Eigenvalues below this, in units of the prior, are no information at all.
NOTHING = 1e-12


@dataclass(frozen=True)
class Information:
    """Standard errors in units of the prior's widths, each constant with the others unknown and known: (P,).

    `singular`: square roots of the eigenvalues of the information, descending (P,). `independent`: how many points of
    all runs together count as independent.
    """

    marginal: np.ndarray
    conditional: np.ndarray
    singular: np.ndarray
    independent: float


def information(problem: Problem, parameters: np.ndarray, width_P: np.ndarray) -> Information:
    """Return what the curves say about `parameters` (P,), a minimum, in units of `width_P`.

    Errors are at least those of Laplace noise on as many points as the residuals change their sign, plus one a run:
    so constants that the curves do not move have errors without limit. With no more runs than constants that is all.
    """
    l_RG, _ = problem.l_and_slopes(parameters, derivatives=False)
    residual_RG = l_RG - problem.curves.loss
    jacobian_RGP = problem.jacobian(parameters) * width_P
    noise = max(float(np.abs(residual_RG).mean()), 1e-9)
    changes = len(l_RG) + float((np.sign(residual_RG[:, 1:]) != np.sign(residual_RG[:, :-1])).sum())
    known_PP = changes / l_RG.size / noise**2 * np.einsum("rgp,rgq->pq", jacobian_RGP, jacobian_RGP)
    variance_P = np.diag(_inverse(known_PP))
    sandwich_P = _sandwich(residual_RG, jacobian_RGP, noise)
    shared = float(np.median(sandwich_P / variance_P)) if len(parameters) else 1.0
    return Information(
        marginal=np.sqrt(np.maximum(variance_P, sandwich_P)),
        conditional=1 / np.sqrt(np.clip(np.diag(known_PP), NOTHING, None)),
        singular=np.sqrt(np.clip(np.linalg.eigvalsh(known_PP)[::-1], NOTHING, None)),
        independent=changes / max(shared, 1.0),
    )


def _sandwich(residual_RG: np.ndarray, jacobian_RGP: np.ndarray, noise: float) -> np.ndarray:
    """Return the variances of least absolute deviations with runs as clusters; 0 where there are too few runs."""
    runs, _, constants = jacobian_RGP.shape
    if runs <= constants:
        return np.zeros(constants)
    density_RG = (np.abs(residual_RG) < noise) / noise  # twice the density at 0, by a box as wide as the noise
    bread_PP = _inverse(np.einsum("rg,rgp,rgq->pq", density_RG, jacobian_RGP, jacobian_RGP))
    pull_RP = np.einsum("rg,rgp->rp", np.sign(residual_RG), jacobian_RGP)
    return np.asarray(np.diag(bread_PP @ (pull_RP.T @ pull_RP) @ bread_PP) * runs / (runs - constants))


def _inverse(matrix_PP: np.ndarray) -> np.ndarray:
    """Return the inverse of a symmetric matrix whose eigenvalues are at least NOTHING."""
    values, vectors = np.linalg.eigh(matrix_PP)
    return np.asarray((vectors / np.clip(values, NOTHING, None)) @ vectors.T)
