"""How well normalised curves collapse. All functions take curves on a common grid: l_RG, one row a run.

Qiu et al. is 2507.02119.
"""

from __future__ import annotations

import numpy as np

from scaling_collapse.errors import CurveError

PERCENT = 100.0


def cross_run_std(l_RG: np.ndarray) -> np.ndarray:
    """Return the standard deviation over runs (n - 1 in the denominator) at each grid point, in percent of L(T)."""
    return np.asarray(PERCENT * _at_least_two(l_RG).std(axis=0, ddof=1))


def spread(l_RG: np.ndarray) -> float:
    """Return the mean over the grid of `cross_run_std`, in percent: the number that we quote for a collapse."""
    return float(cross_run_std(l_RG).mean())


def root_mean_square_spread(l_RG: np.ndarray) -> float:
    """Return the root mean square over the grid of `cross_run_std`, in percent.

    Never below `spread`, and heavier where curves differ most. Its squares add up over independent causes.
    """
    return float(np.sqrt(np.mean(cross_run_std(l_RG) ** 2)))


def spread_of_range(l_RG: np.ndarray) -> float:
    """Return `spread` in percent of the dynamic range, which is the runs' mean of l(first grid point) - 1."""
    dynamic_range = float(_at_least_two(l_RG)[:, 0].mean() - 1)
    if dynamic_range <= 0:
        raise CurveError("collapse", f"l falls by {dynamic_range:.3g} over the grid, so there is no range to compare.")
    return spread(l_RG) / dynamic_range


def max_minus_min(l_RG: np.ndarray) -> float:
    """Return the largest difference between two runs anywhere on the grid, in percent."""
    return float(PERCENT * np.ptp(_at_least_two(l_RG), axis=0).max())


def collapse_deviation(l_RG: np.ndarray) -> np.ndarray:
    """Return Delta(x) = std/mean of l over all sizes and seeds at each grid point, a fraction (Qiu et al.)."""
    runs = _at_least_two(l_RG)
    return np.asarray(runs.std(axis=0, ddof=1) / runs.mean(axis=0))


def seed_noise(loss_SG: np.ndarray, offset: float = 0.0) -> np.ndarray:
    """Return sigma(x) = std/mean over seeds of the reducible loss of one size at each grid point (Qiu et al.).

    `loss_SG` [nats] is not normalised; `offset` is the irreducible loss L0 [nats], below all losses.
    """
    reducible = _at_least_two(loss_SG) - offset
    if (reducible <= 0).any():
        raise CurveError("seed noise", f"the offset {offset:.4g} is not below all losses.")
    return np.asarray(reducible.std(axis=0, ddof=1) / reducible.mean(axis=0))


def pooled_seed_std(groups: list[np.ndarray]) -> np.ndarray:
    """Return the standard deviation among repeats at each grid point, in percent.

    `groups` holds the l_SG of each recipe's seeds; variances are pooled by degrees of freedom.
    """
    if not groups:
        raise CurveError("noise floor", "there are no two runs that differ in their seeds alone.")
    variances_MG = np.array([cross_run_std(group) ** 2 for group in groups])
    freedom_M = np.array([len(group) - 1 for group in groups])
    return np.asarray(np.sqrt(freedom_M @ variances_MG / freedom_M.sum()))


def _at_least_two(l_RG: np.ndarray) -> np.ndarray:
    """Return the rows. Raises CurveError for fewer than two runs, or values that are not finite."""
    if l_RG.ndim != 2 or len(l_RG) < 2:
        raise CurveError("collapse", f"{len(l_RG)} curve(s); a spread needs at least two.", "train more sizes")
    if not np.isfinite(l_RG).all():
        raise CurveError("collapse", "curves have values that are not finite on the grid.")
    return l_RG
