"""How far the curves of a family of sizes collapse, and how much of what is left is noise."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from scaling_collapse.curves import measures
from scaling_collapse.curves.curve import Curve, curves_of
from scaling_collapse.curves.grid import GRID, to_grid
from scaling_collapse.curves.noise import residual_noise
from scaling_collapse.curves.normalise import TRAINING, VALIDATION, Normalisation, normalised
from scaling_collapse.errors import CurveError

if TYPE_CHECKING:
    import pandas as pd

SEEDS, RESIDUALS = "seeds", "residuals"


@dataclass(frozen=True)
class FamilySummary:
    """Collapse of one family on one split; percentages are of the final loss unless said otherwise.

    `spread_percent`: mean over the grid of the standard deviation over sizes (one run each).
    `spread_of_range_percent`: the same in percent of l(first grid point) - 1. `noise_floor_percent`: the spread that
    noise alone would give, from repeats with other seeds ("seeds"), else from the curves' own high-frequency
    residuals ("residuals"), else NaN. `runs` are those compared, `left_out` the diverged ones.
    """

    split: str
    sizes: tuple[str, ...]
    tpp_min: float
    tpp_max: float
    tau_min: float
    tau_max: float
    spread_percent: float
    spread_of_range_percent: float
    max_minus_min_percent: float
    noise_floor_percent: float
    noise_floor_source: str
    runs: tuple[str, ...]
    left_out: tuple[str, ...]


def family_summary(
    frame: pd.DataFrame,
    split: str = "train",
    normalisation: Normalisation | None = None,
    grid: np.ndarray = GRID,
    complete: bool = False,
) -> FamilySummary:
    """Measure the collapse of the runs in `frame` (a checked table) on `split`, one run of each size.

    Of several runs of a size that differ in their seeds, the lowest seed is compared and all enter the noise floor.
    The default normalisation smooths training losses and leaves validation losses as they are. `complete` as in
    `curves_of`. Raises CurveError for fewer than two sizes, or two recipes for one size.
    """
    chosen = _default(split) if normalisation is None else normalisation
    healthy = [curve for curve in curves_of(frame, split, complete) if not curve.diverged]
    left_out = _diverged(frame)
    repeats = _repeats(healthy)
    compared = [group[0] for group in repeats]
    _check_sizes(compared, left_out)
    l_RG = on_grid(compared, chosen, grid)
    floor, source = noise_floor(repeats, split, chosen, grid)
    tpp, tau = np.array([curve.tpp for curve in compared]), np.array([curve.tau for curve in compared])
    return FamilySummary(
        split=split,
        sizes=tuple(size_name(curve) for curve in compared),
        tpp_min=float(tpp.min()),
        tpp_max=float(tpp.max()),
        tau_min=float(tau.min()),
        tau_max=float(tau.max()),
        spread_percent=measures.spread(l_RG),
        spread_of_range_percent=measures.spread_of_range(l_RG),
        max_minus_min_percent=measures.max_minus_min(l_RG),
        noise_floor_percent=floor,
        noise_floor_source=source,
        runs=tuple(curve.run for curve in compared),
        left_out=left_out,
    )


def on_grid(curves: list[Curve], normalisation: Normalisation, grid: np.ndarray = GRID) -> np.ndarray:
    """Return the normalised curves at `grid`, l_RG."""
    return np.array([to_grid(curve.t_hat, normalised(curve, normalisation), grid) for curve in curves])


def noise_floor(
    repeats: list[list[Curve]], split: str, normalisation: Normalisation, grid: np.ndarray = GRID
) -> tuple[float, str]:
    """Return the noise floor [percent] of groups of runs that differ in seeds alone, and where it comes from.

    Without repeats the noise of each curve comes from its residuals: unsmoothed curves (validation) have none.
    """
    seeds = [on_grid(group, normalisation, grid) for group in repeats if len(group) > 1]
    if seeds:
        return float(measures.pooled_seed_std(seeds).mean()), SEEDS
    if normalisation.smoothing.kind == "none":
        return float("nan"), ""
    variances_RG = np.array([residual_noise(group[0], normalisation, grid) ** 2 for group in repeats])
    return float(np.sqrt(variances_RG.mean(axis=0)).mean()), RESIDUALS


def size_name(curve: Curve) -> str:
    """Return the name of the curve's size; where the table has none, its parameters, e.g. 132k."""
    return str(curve.facts.get("size") or "") or _short(curve.size_params)


def _default(split: str) -> Normalisation:
    return VALIDATION if split == "validation" else TRAINING


def _diverged(frame: pd.DataFrame) -> tuple[str, ...]:
    if "status" not in frame:
        return ()
    return tuple(map(str, frame.loc[frame["status"] == "diverged", "run"].unique()))


def _repeats(curves: list[Curve]) -> list[list[Curve]]:
    """Return groups of curves that differ in seeds alone, lowest seed first, ordered by size."""

    def key(curve: Curve) -> tuple[float, str]:
        return curve.size_params, repr(curve.recipe)

    ordered = sorted(curves, key=lambda curve: (*key(curve), curve.seed))
    return [list(group) for _, group in groupby(ordered, key=key)]


def _check_sizes(compared: list[Curve], left_out: tuple[str, ...]) -> None:
    names = [size_name(curve) for curve in compared]
    without = f" (left out, since diverged: {', '.join(left_out)})" if left_out else ""
    if len(names) < 2:
        raise CurveError("family", f"{len(names)} size(s){without}; collapse needs at least two.", "train more sizes")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise CurveError(
            "family", f"size {', '.join(twice)} has runs that differ in more than their seeds.", "choose one recipe"
        )


def _short(params: float) -> str:
    """Return 132096 as 132k, 1.8104e9 as 1.8B."""
    for unit, scale in (("B", 1e9), ("M", 1e6), ("k", 1e3)):
        if params >= scale:
            number = params / scale
            return f"{number:.1f}{unit}" if number < 10 else f"{number:.0f}{unit}"
    return f"{params:g}"
