"""Compression: what it costs in compute to train a smaller model for longer to the same loss (Eq. 22, 23; Fig 5).

With L = E + A*N^-a + B*D^-b, a = b, and the compute-optimal model at r tokens per parameter, a model of k_N
times the optimal parameters reaches the optimal loss with k_D times the optimal tokens, at k_N*k_D times the compute.
"""

from __future__ import annotations

import math

from scaling_collapse.errors import ConfigError

#: Exponent a of both power laws and the optimal tokens per parameter r (section 2 of the paper).
ALPHA = 0.35
OPTIMAL_TPP = 20.0


def token_ratio(parameter_ratio: float, alpha: float = ALPHA) -> float:
    """Return k_D = (2 - k_N^-a)^(-1/a) (Eq. 22), tokens over optimal tokens at k_N = `parameter_ratio`.

    Raises ConfigError at or below the smallest k_N, 2^(-1/a): so small a model never reaches the loss.
    """
    smallest = smallest_parameter_ratio(alpha)
    if not (math.isfinite(parameter_ratio) and parameter_ratio > smallest):
        raise ConfigError(
            "compression",
            f"{parameter_ratio:g} of the optimal parameters never reach its loss;",
            f"use more than {smallest:.4g}",
        )
    return float((2 - parameter_ratio**-alpha) ** (-1 / alpha))


def compute_ratio(parameter_ratio: float, alpha: float = ALPHA) -> float:
    """Return C/C_opt = k_N*k_D (Eq. 23)."""
    return parameter_ratio * token_ratio(parameter_ratio, alpha)


def tokens_per_parameter(parameter_ratio: float, alpha: float = ALPHA, optimal_tpp: float = OPTIMAL_TPP) -> float:
    """Return TPP = r*k_D/k_N of the compressed model."""
    return optimal_tpp * token_ratio(parameter_ratio, alpha) / parameter_ratio


def parameter_ratio_for(tpp: float, alpha: float = ALPHA, optimal_tpp: float = OPTIMAL_TPP) -> float:
    """Return the k_N that has `tpp` tokens per parameter: the inverse of `tokens_per_parameter`, in closed form.

    TPP/r = k_D/k_N turns Eq. 22 into k_N^-a*((TPP/r)^-a + 1) = 2.
    """
    if not (math.isfinite(tpp) and tpp > 0):
        raise ConfigError("compression", f"{tpp} tokens per parameter; must be positive and finite.")
    return float((((tpp / optimal_tpp) ** -alpha + 1) / 2) ** (1 / alpha))


def smallest_parameter_ratio(alpha: float = ALPHA) -> float:
    """Return 2^(-1/a), the k_N at which k_D becomes infinite. Raises ConfigError unless a is positive."""
    if not (math.isfinite(alpha) and alpha > 0):
        raise ConfigError("compression", f"exponent {alpha}; must be positive and finite.")
    return float(2 ** (-1 / alpha))
