"""Curves that theory predicts under a constant learning rate: the noisy quadratic model and the TPP curve."""

from __future__ import annotations

import numpy as np

from scaling_collapse.errors import CurveError


def noisy_quadratic(t_hat: np.ndarray, tau: float, ratio: float) -> np.ndarray:
    """Return l of the noisy quadratic model (Eq. 3) for timescale `tau` at `t_hat` in [0, 1].

    `ratio` k is the initial loss over that which noise leaves in the end. Raises CurveError unless both are positive.
    """
    _positive(tau=tau, k=ratio)

    def loss(t: np.ndarray) -> np.ndarray:
        decay = np.exp(-2 * t / tau)
        return (1 - decay) + ratio * decay

    return np.asarray(loss(np.asarray(t_hat, dtype=float)) / loss(np.array(1.0)))


def constant_rate_tpp(t_hat: np.ndarray, tpp: float, alpha: float, optimal_tpp: float) -> np.ndarray:
    """Return l(t, v) = (1 + v^-a t^-a)/(1 + v^-a) with v = TPP/r (Eq. 6-9), at `t_hat` in (0, 1].

    It is what L = A*N^-a + B*(t*D)^-a gives. Raises CurveError unless everything is positive.
    """
    t = np.asarray(t_hat, dtype=float)
    _positive(tpp=tpp, alpha=alpha, r=optimal_tpp, t_hat=float(t.min()))
    relative = (tpp / optimal_tpp) ** -alpha
    return np.asarray((1 + relative * t**-alpha) / (1 + relative))


def _positive(**values: float) -> None:
    for name, value in values.items():
        if not (np.isfinite(value) and value > 0):
            raise CurveError("theory", f"{name} is {value}; must be positive and finite.")
