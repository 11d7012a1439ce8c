"""Do these runs collapse? Spread against noise and healthy walk, the run that does not fit, and what does not match."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from scaling_collapse.curves import measures
from scaling_collapse.curves.curve import Curve
from scaling_collapse.curves.family import noise_floor, on_grid
from scaling_collapse.curves.grid import FIRST_FRACTION, GRID, ROUNDING
from scaling_collapse.curves.irreducible import fit_irreducible_loss
from scaling_collapse.curves.normalise import TRAINING, VALIDATION, Normalisation
from scaling_collapse.diagnose.noise import noise_variance
from scaling_collapse.diagnose.whiten import WANDER
from scaling_collapse.errors import CurveError
from scaling_collapse.predict.match import TOLERATED_RATIO

#: Spread that still counts as a collapse, over what noise and healthy walk would give: with few runs the spread itself
#: varies by a third.
TOLERATED_SPREAD = 2.0

#: A run is an outlier where the others collapse without it, or their spread falls below this share.
WITHOUT_OUTLIER = 0.5


@dataclass(frozen=True)
class FamilyCheck:
    """Collapse of a set of runs; percentages are of the final loss unless said otherwise.

    `spread_percent` is the mean cross-run standard deviation over t_hat in [0.2, 1] at offset 0, and in percent of
    the dynamic range; `noise_floor_percent` what noise alone gives (NaN if not known) and `floor_source` from what;
    `limit_percent` the spread up to which the runs collapse. `irreducible_nats` is the L0 of their texts or of a
    power law through them, and `spread_irreducible_percent` the spread of (L - L0)/(L(T) - L0) (NaN if not known).
    A run that ends above its loss at t_hat 0.2 is an outlier, whatever the spread; where the mean of the runs does,
    there is no dynamic range, and its percentage is NaN.
    """

    runs: tuple[str, ...]
    spread_percent: float
    spread_of_range_percent: float
    noise_floor_percent: float
    floor_source: str
    limit_percent: float
    collapses: bool
    outliers: tuple[str, ...]
    mismatches: tuple[str, ...]
    spread_irreducible_percent: float
    irreducible_nats: float
    left_out: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return what `check --json` shows."""
        return {
            "spread_percent": self.spread_percent,
            "spread_of_range_percent": _or_none(self.spread_of_range_percent),
            "noise_floor_percent": _or_none(self.noise_floor_percent),
            "collapses": self.collapses,
            "outliers": list(self.outliers),
            "mismatches": list(self.mismatches),
        }


def check_family(curves: Sequence[Curve], normalisation: Normalisation | None = None) -> FamilyCheck:
    """Check runs of one split: one of each recipe is compared (the lowest seed), repeats tell the noise.

    Training losses are smoothed by default, others left as they are. Diverged and unfinished runs are left out.
    Raises CurveError for fewer than two recipes, or a run whose first loss lies after t_hat 0.2.
    """
    left_out = tuple(curve.run for curve in curves if not curve.finished)
    repeats = _repeats([curve for curve in curves if curve.finished])
    compared = [group[0] for group in repeats]
    if len(compared) < 2:
        raise CurveError("check", f"{len(compared)} finished run(s) of different recipes; need two.", "add runs")
    split = compared[0].split
    chosen = normalisation or (TRAINING if split == "train" else VALIDATION)
    grid = _common_grid([curve for group in repeats for curve in group])
    l_RG = on_grid(compared, chosen, grid)
    floor, source = noise_floor(repeats, split, chosen, grid)
    if not source:
        floor, source = _point_noise(compared), "points"
    spread, limit = measures.spread(l_RG), _limit(floor)
    outliers = _outliers(l_RG, limit)
    offset, spread_irreducible = _with_irreducible(compared, chosen, grid)
    return FamilyCheck(
        runs=tuple(curve.run for curve in compared),
        spread_percent=spread,
        spread_of_range_percent=_spread_of_range(l_RG),
        noise_floor_percent=floor,
        floor_source=source,
        limit_percent=limit,
        collapses=spread <= limit and not outliers,
        outliers=tuple(compared[i].run for i in outliers),
        mismatches=tuple(_mismatches(compared)),
        spread_irreducible_percent=spread_irreducible,
        irreducible_nats=offset,
        left_out=left_out,
    )


def _or_none(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _spread_of_range(l_RG: np.ndarray) -> float:
    try:
        return measures.spread_of_range(l_RG)
    except CurveError:
        return float("nan")


def _common_grid(curves: Sequence[Curve]) -> np.ndarray:
    """Return the grid up to where all curves reach: the last loss of a finished run may be logged a little earlier."""
    for curve in curves:
        if curve.t_hat[0] > FIRST_FRACTION + ROUNDING:
            problem = (
                f"its losses begin at {curve.t_hat[0]:.0%} of training; runs are compared from {FIRST_FRACTION:.0%} on"
            )
            raise CurveError(curve.run, problem, "leave it out")
    return GRID[min((curve.t_hat[-1] for curve in curves), default=1.0) + ROUNDING >= GRID]


def _repeats(curves: Sequence[Curve]) -> list[list[Curve]]:
    """Return runs that differ in seeds alone together, lowest seed first, ordered by size."""

    def recipe(curve: Curve) -> tuple[float, str]:
        return curve.size_params, repr(curve.recipe) if curve.facts.get("schedule") else curve.run

    ordered = sorted(curves, key=lambda curve: (*recipe(curve), curve.seed))
    return [list(group) for _, group in groupby(ordered, key=recipe)]


def _point_noise(curves: Sequence[Curve]) -> float:
    """Return the noise [percent] of l from single points: those of the curve and of its end are independent."""
    variances = [noise_variance(np.log(curve.loss), np.ones_like(curve.loss), curve.t_hat)[0][-1] for curve in curves]
    return float(measures.PERCENT * np.sqrt(2 * np.mean(variances)))


def _limit(floor_percent: float) -> float:
    """Return the spread [percent] up to which runs collapse: noise, and the walk of healthy runs until their end."""
    walk = measures.PERCENT * WANDER / np.sqrt(2) * float(np.sqrt(1 - GRID).mean())
    return float(TOLERATED_SPREAD * np.hypot(walk, floor_percent))


def _outliers(l_RG: np.ndarray, limit: float) -> list[int]:
    """Return the rows to leave out, one after the other, until the rest collapses or no row explains its spread.

    Rows that do not fall come first.
    """
    found = np.flatnonzero(l_RG[:, 0] <= 1).tolist()
    kept = [i for i in range(len(l_RG)) if i not in found]
    while len(kept) > 2 and measures.spread(l_RG[kept]) > limit:
        now = measures.spread(l_RG[kept])
        without = {i: measures.spread(l_RG[[j for j in kept if j != i]]) for i in kept}
        worst = min(without, key=lambda i: without[i])
        if without[worst] > max(limit, WITHOUT_OUTLIER * now):
            break
        found.append(worst)
        kept.remove(worst)
    return found


def _mismatches(curves: Sequence[Curve]) -> Iterator[str]:
    """Yield what the runs do not share, by numbers."""
    for name, values in (
        ("tokens per parameter", [curve.tpp for curve in curves]),
        ("tau", [curve.tau for curve in curves]),
    ):
        known = [(value, curve.run) for value, curve in zip(values, curves, strict=True) if np.isfinite(value)]
        if not known:
            continue
        (low, lowest), (high, highest) = min(known), max(known)
        if high > TOLERATED_RATIO * low:
            yield f"{name} from {low:.3g} ({lowest}) to {high:.3g} ({highest}), a ratio of {high / low:.3g}"
    kinds = sorted({str(curve.facts.get("schedule") or "") for curve in curves} - {""})
    if len(kinds) > 1:
        yield f"schedules {', '.join(kinds)}"


def _with_irreducible(curves: Sequence[Curve], normalisation: Normalisation, grid: np.ndarray) -> tuple[float, float]:
    """Return L0 [nats] and the spread [percent] with it: NaN where it is not known and cannot be fitted."""
    known = {curve.irreducible_nats for curve in curves}
    if len(known) == 1 and np.isfinite(next(iter(known))):
        offset = known.pop()
    else:
        try:
            offset = fit_irreducible_loss(curves, normalisation).offset
        except CurveError:
            return float("nan"), float("nan")
    changed = Normalisation(normalisation.smoothing, offset, normalisation.final, normalisation.adjust)
    return offset, measures.spread(on_grid(list(curves), changed, grid))
