"""Autocorrelation of noise from values less a mean of their neighbours, which takes trends and drifts off first."""

from __future__ import annotations

import numpy as np

#: Coefficients of an autoregression of first order that are told apart.
COEFFICIENTS = np.linspace(0, 0.9, 19)


def local_correlations(weights: np.ndarray) -> np.ndarray:
    """Return the correlation of neighbours for each of COEFFICIENTS after a filter with `weights` (k,)."""
    lags = np.subtract.outer(np.arange(len(weights)), np.arange(len(weights)))

    def covariance(rho: float, shift: int) -> float:
        return float(weights @ rho ** np.abs(lags + shift) @ weights)

    return np.array([covariance(rho, 1) / covariance(rho, 0) for rho in COEFFICIENTS])
