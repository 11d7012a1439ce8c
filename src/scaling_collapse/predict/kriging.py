"""The final loss as the best linear unbiased prediction (kriging) from the part, with a drifting stretch.

With template l, and x = l - 1, a run is modelled as

    L(t) = L(T) * (l(t) + s*x(t) + d(t)) * (1 + noise),   d(1) = 0

s is the stretch that other tokens per parameter give (predict/match.py). The deviation d has two independent parts:
a *drift*, the stretch of each piece of the curve walking at random in u = -log t_hat backwards from 0 at the end,
d = integral from t to 1 of W(u(t')) (-dl), which says that curves collapse at the end and less and less before; and a
*roughness*, a random walk in the clock x, which says how far a prediction can go wrong while the loss has x to fall.
A wrong tau adds a walk in the time that is left. Early-align is the limit of neither, alignment at the last point the
limit of much roughness, affine alignment the limit of a large unknown s. Hypotheses on the sizes of drift and
roughness are weighted by how likely each makes the part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scaling_collapse.predict.match import Match
from scaling_collapse.predict.part import Part
from scaling_collapse.predict.template import Template

#: Standard deviations of the drift, per sqrt(unit of log t_hat): maximum likelihood over the five matched families of
#: `cpu` scale from t_hat = 0.2 on, and from 0.1 on. Both are tried, and the part weighs them.
DRIFTS = (0.04, 0.16)

#: Standard deviations of the roughness, per sqrt(unit of x): the same fit gives 0.01 from 0.2 on and nothing to 0.01
#: from 0.1 on; the smaller is for curves smoother than ours.
ROUGHNESSES = (0.003, 0.01)

#: Relative noise that averaging does not remove: what the same fit leaves on binned training losses.
NOISE_FLOOR = 0.0005

#: Cells in log t_hat in which a template's fall is integrated.
CELLS = np.geomspace(1e-3, 1.0, 200)

#: A stretch of the part that is this many standard deviations from the expected one speaks of another recipe:
#: matched runs of `cpu` scale reach 2.0 (from 15% of training on), and 1 of 80 would by chance.
UNLIKELY_STRETCH = 2.5


@dataclass(frozen=True)
class Covariances:
    """Covariances of d at m points, relative to L(T), for unit standard deviations; `time` is a walk in 1 - t_hat."""

    drift: np.ndarray
    roughness: np.ndarray
    stretch: np.ndarray
    time: np.ndarray

    @classmethod
    def of(cls, template: Template, t_hat: np.ndarray) -> Covariances:
        """Return the covariances at `t_hat` (m,) for a template; where it rises, it is taken as flat."""
        fall = -np.diff(np.minimum.accumulate(template.at(CELLS)))
        edges = np.log(CELLS)
        beyond = np.clip((edges[1:] - np.log(t_hat)[:, None]) / np.diff(edges), 0, 1) * fall  # (m, cells)
        age = -(edges[1:] + edges[:-1]) / 2
        clock = beyond.sum(axis=1)
        left = 1 - t_hat
        return cls(
            drift=beyond @ np.minimum(age[:, None], age) @ beyond.T,
            roughness=np.minimum(clock[:, None], clock),
            stretch=np.outer(clock, clock),
            time=np.minimum(left[:, None], left),
        )

    def hypotheses(self, matched: Match) -> np.ndarray:
        """Return the covariance under each hypothesis, (h, m, m)."""
        stretches = (matched.stretch_sd,) if matched.comparable else (0.0, matched.stretch_sd)
        walk = matched.walk**2 * self.time
        return np.array(
            [
                drift**2 * self.drift + rough**2 * self.roughness + sd**2 * self.stretch + walk
                for sd in stretches
                for drift in DRIFTS
                for rough in ROUGHNESSES
            ]
        )


def krige(
    part: Part, covariance_HMM: np.ndarray, stretch: float, known: slice, target: slice | None = None
) -> tuple[float, float]:
    """Return the prediction and its relative standard deviation, of L(T) or of the mean loss over `target` points.

    `known` are the points that may be used. Hypotheses (the first axis of `covariance_HMM`) count by their marginal
    likelihood, with a flat prior on L(T).
    """
    l_M, loss_M = part.template[known], part.loss[known]
    scale = loss_M[-1] / l_M[-1]
    noise_M = l_M**2 * (part.noise**2 / part.count[known] + NOISE_FLOOR**2)
    inside_HMM = covariance_HMM[:, known, known] + np.diag(noise_M)
    lower_HMM = np.linalg.cholesky(inside_HMM)
    trend_M = l_M + stretch * (l_M - 1)
    columns = [loss_M / scale, trend_M]
    shared_HMK = np.broadcast_to(np.stack(columns, axis=1), (len(lower_HMM), len(l_M), 2))
    if target is not None:
        shared_HMK = np.concatenate([shared_HMK, covariance_HMM[:, known, target]], axis=2)
    white_HMK = np.linalg.solve(lower_HMM, shared_HMK)
    y, f, cross = white_HMK[..., 0], white_HMK[..., 1], white_HMK[..., 2:]
    information = (f * f).sum(axis=1)
    value = (y * f).sum(axis=1) / information
    misfit = (y * y).sum(axis=1) - value**2 * information
    log_determinant = np.log(np.diagonal(lower_HMM, axis1=1, axis2=2)).sum(axis=1)
    log_likelihood = -0.5 * misfit - log_determinant - 0.5 * np.log(information)
    variance = 1 / information
    if target is not None:
        trend_T = part.template[target] + stretch * (part.template[target] - 1)
        weight = 1 / cross.shape[2]
        left = (trend_T - np.einsum("hmk,hm->hk", cross, f)).sum(axis=1) * weight
        explained = cross.sum(axis=2) * weight
        own = covariance_HMM[:, target, target].sum(axis=(1, 2)) * weight**2
        residual = y - value[:, None] * f
        value = trend_T.mean() * value + (explained * residual).sum(axis=1)
        variance = own - (explained**2).sum(axis=1) + left**2 * variance
    return _mixture(value, variance, log_likelihood, float(scale))


def stretch_found(part: Part, covariance_MM: np.ndarray, stretch: float) -> tuple[float, float]:
    """Return the stretch that the part itself shows beyond the expected one, and its standard deviation.

    Generalised least squares on l and x with one hypothesis' covariance, which already allows for drift.
    """
    l_M = part.template[part.window :]
    noise_M = l_M**2 * (part.noise**2 / part.count[part.window :] + NOISE_FLOOR**2)
    lower_MM = np.linalg.cholesky(covariance_MM[part.window :, part.window :] + np.diag(noise_M))
    scale = part.loss[-1] / l_M[-1]
    columns = np.stack([part.loss[part.window :] / scale, l_M + stretch * (l_M - 1), l_M - 1], axis=1)
    white = np.linalg.solve(lower_MM, columns)
    normal = white[:, 1:].T @ white[:, 1:]
    amplitude, extra = np.linalg.lstsq(normal, white[:, 1:].T @ white[:, 0], rcond=None)[0]
    covariance = np.linalg.pinv(normal)
    return float(extra / amplitude), float(np.sqrt(covariance[1, 1]) / amplitude)


def _mixture(
    value_H: np.ndarray, variance_H: np.ndarray, log_likelihood_H: np.ndarray, scale: float
) -> tuple[float, float]:
    """Return mean and relative standard deviation of the hypotheses' mixture."""
    weight_H = np.exp(log_likelihood_H - log_likelihood_H.max())
    weight_H /= weight_H.sum()
    mean = float(weight_H @ value_H)
    variance = float(weight_H @ (variance_H + (value_H - mean) ** 2))
    return mean * scale, float(np.sqrt(max(variance, 0.0)) / mean)
