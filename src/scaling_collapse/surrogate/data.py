"""From the tidy table of curves to the arrays of the fit: normalised loss, tau, TPP and learning rate of each run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scaling_collapse.curves.curve import Curve, curves_of
from scaling_collapse.curves.family import size_name
from scaling_collapse.curves.grid import GRID, to_grid
from scaling_collapse.curves.normalise import TRAINING, VALIDATION, Normalisation, normalised
from scaling_collapse.curves.table import choose_runs
from scaling_collapse.errors import CurveError
from scaling_collapse.surrogate.rates import rates_of_run
from scaling_collapse.surrogate.schedule import RateCurve

if TYPE_CHECKING:
    import pandas as pd

#: A schedule that ends below this factor of its peak decays to zero; 10x decay ends at 0.1 (Fig 10).
DECAYED = 0.05


@dataclass(frozen=True)
class CurveSet:
    """Normalised curves of R runs at G common fractions of training `t_hat` (G,), and what the surrogate takes of each.

    `loss` = L(t)/L(T) (R, G); `rate`: learning rate over its peak (R, G), `end_rate` the same at the end of training
    (R,); `tau`, `tpp` (R,); `runs` and `sizes` are names. `left_out` holds (run, reason) of what a table has but the
    arrays do not.
    Raises CurveError, naming the run, for values that no fit can use.
    """

    runs: tuple[str, ...]
    sizes: tuple[str, ...]
    tau: np.ndarray
    tpp: np.ndarray
    t_hat: np.ndarray
    loss: np.ndarray
    rate: np.ndarray
    end_rate: np.ndarray
    left_out: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        count, points = len(self.runs), len(self.t_hat)
        shapes = [self.tau.shape, self.tpp.shape, self.end_rate.shape, self.loss.shape, self.rate.shape]
        if shapes != [(count,)] * 3 + [(count, points)] * 2 or len(self.sizes) != count or count == 0:
            raise CurveError("surrogate", f"{count} runs and {points} points do not fit arrays of shapes {shapes}.")
        if points < 2 or not (np.diff(self.t_hat) > 0).all() or not (self.t_hat[0] > 0 and self.t_hat[-1] <= 1):
            raise CurveError("surrogate", "t_hat must be two or more increasing fractions of training in (0, 1].")
        rates = np.column_stack([self.rate, self.end_rate])
        good = {
            "tau that is not positive and finite": np.isfinite(self.tau) & (self.tau > 0),
            "TPP that is not positive and finite": np.isfinite(self.tpp) & (self.tpp > 0),
            "normalised loss that is not positive and finite": (np.isfinite(self.loss) & (self.loss > 0)).all(axis=1),
            "learning rate that is negative or not finite": (np.isfinite(rates) & (rates >= 0)).all(axis=1),
        }
        for what, fine_R in good.items():
            if not fine_R.all():
                raise CurveError(self.runs[int(np.flatnonzero(~fine_R)[0])], f"it has a {what}.")

    def where(self, keep_R: np.ndarray) -> CurveSet:
        """Return the runs of a mask or of indices. Raises CurveError when none is left."""
        index = np.arange(len(self.runs))[keep_R]
        if len(index) == 0:
            raise CurveError("surrogate", "no run is left of those asked for.", "ask for other runs")
        return replace(
            self,
            runs=tuple(self.runs[i] for i in index),
            sizes=tuple(self.sizes[i] for i in index),
            tau=self.tau[index],
            tpp=self.tpp[index],
            loss=self.loss[index],
            rate=self.rate[index],
            end_rate=self.end_rate[index],
        )

    def at_points(self, keep: slice) -> CurveSet:
        """Return all runs at a slice of the points."""
        return replace(self, t_hat=self.t_hat[keep], loss=self.loss[:, keep], rate=self.rate[:, keep])

    def of_size(self, *sizes: str) -> CurveSet:
        """Return the runs of `sizes`."""
        return self.where(np.isin(self.sizes, sizes))

    def decaying_to_zero(self) -> CurveSet:
        """Return the runs whose learning rate ends at zero: the only ones of the paper's fits (section 2)."""
        return self.where(self.end_rate < DECAYED)


def curve_set(
    frame: pd.DataFrame,
    split: str = "train",
    runs: Sequence[str] | None = None,
    normalisation: Normalisation | None = None,
    grid: np.ndarray = GRID,
    schedules: Mapping[str, RateCurve] | None = None,
    complete: bool = False,
    skip: bool = False,
) -> CurveSet:
    """Return the curves of a checked table on `split`, resampled on `grid`: all runs, or only those of `runs`.

    Training losses are smoothed by default, others left as they are; `schedules` overrides the learning rates of the
    table; `complete` as in `curves_of`. Raises CurveError, naming the run and what to give, for an unknown run or
    split, a run that did not finish, a loss that never changes, unknown or impossible tau or TPP, an unknown schedule.
    With `skip` such runs are left out, and `left_out` says why; it is an error only when no run remains.
    """
    table = frame if runs is None else choose_runs(frame, list(runs))
    chosen = normalisation or (TRAINING if split == "train" else VALIDATION)
    rows = dict(tuple(table.groupby("run", sort=False, observed=True)))
    taken: list[tuple[Curve, np.ndarray, RateCurve]] = []
    left_out: list[CurveError] = []
    for curve in curves_of(table, split, complete):
        try:
            _check(curve)
            l_G = to_grid(curve.t_hat, normalised(curve, chosen), grid)
            given = (schedules or {}).get(curve.run)
            taken.append((curve, l_G, given or rates_of_run(curve.run, rows[curve.run])))
        except CurveError as error:
            if not skip:
                raise
            left_out.append(CurveError(curve.run, error.problem, error.fix))
    if not taken:
        raise _none_left(left_out)
    return CurveSet(
        runs=tuple(curve.run for curve, *_ in taken),
        sizes=tuple(size_name(curve) for curve, *_ in taken),
        tau=np.array([curve.tau for curve, *_ in taken]),
        tpp=np.array([curve.tpp for curve, *_ in taken]),
        t_hat=grid,
        loss=np.array([l_G for _, l_G, _ in taken]),
        rate=np.array([rates(grid) for *_, rates in taken]),
        end_rate=np.array([rates.end for *_, rates in taken]),
        left_out=tuple((error.where, error.problem.rstrip(".")) for error in left_out),
    )


def _none_left(left_out: Sequence[CurveError]) -> CurveError:
    first = left_out[0]
    text = f"no run of {len(left_out)} can be used; {first.where}, the first: {first.problem}"
    return CurveError("surrogate", text, first.fix)


def _check(curve: Curve) -> None:
    """Raise CurveError for a diverged or flat curve, or unknown or impossible tau or TPP."""
    if curve.diverged:
        raise CurveError(curve.run, "it diverged, so it has no final loss.", "leave it out")
    if np.ptp(curve.loss) == 0:
        raise CurveError(curve.run, f"its loss is {curve.loss[0]:g} at every step, which is no training curve.")
    if not (np.isfinite(curve.tau) and curve.tau > 0):
        needed = ("batch_tokens", "lr_peak", "weight_decay", "tokens_total")
        lacking = [name for name in needed if not float(curve.facts[name]) > 0]
        what = "column tau" if not lacking else f"column tau, or {', '.join(lacking)} above 0 (tau = B/(eta*lambda*D))"
        raise CurveError(curve.run, f"its timescale tau is {_known(curve.tau)}.", f"give {what}")
    if not (np.isfinite(curve.tpp) and curve.tpp > 0):
        text = f"its tokens per parameter are {_known(curve.tpp)}."
        raise CurveError(curve.run, text, "give tpp, or tokens_total and size_params")


def _known(value: float) -> str:
    return "not known" if np.isnan(value) else f"{value:g}"
