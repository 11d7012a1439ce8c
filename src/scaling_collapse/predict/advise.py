"""Advice for a sweep in progress: which runs can stop now, what that may cost, and what it saves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import erf, exp, pi, sqrt
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from scaling_collapse.curves.curve import Curve, curves_of
from scaling_collapse.errors import ConfigError, CurveError
from scaling_collapse.predict.methods import LEAST_SQUARES
from scaling_collapse.predict.prediction import Prediction
from scaling_collapse.predict.table import predict_table, split_of
from scaling_collapse.predict.template import Template

if TYPE_CHECKING:
    import pandas as pd

#: A run stops when its chance to end below the run that is predicted best is less than this.
LEAST_CHANCE = 0.05

#: Training costs 6 FLOPs for each parameter and token, where the table has no flops_total.
FLOPS_PER_PARAMETER_AND_TOKEN = 6.0


@dataclass(frozen=True)
class RunAdvice:
    """Advice for one run. `chance` is that it ends below the best; FLOPs are NaN where sizes are not known."""

    prediction: Prediction
    chance: float
    stop: bool
    regret_percent: float
    flops_left: float


@dataclass(frozen=True)
class Advice:
    """Advice for a sweep: the run predicted best, and what to do with each.

    `expected_regret_percent` is an upper bound on what stopping is expected to cost, in percent of the final loss.
    `flops_saved` of `flops_left` are saved; both are NaN where sizes or tokens of a run are not known.
    """

    best: str
    runs: tuple[RunAdvice, ...]
    expected_regret_percent: float
    flops_saved: float
    flops_left: float
    warnings: tuple[str, ...] = ()

    @property
    def stop(self) -> tuple[str, ...]:
        """Runs that can stop now."""
        return tuple(advice.prediction.run for advice in self.runs if advice.stop)

    def as_json(self) -> dict[str, Any]:
        """Return what `advise --json` prints; numbers that are not known are None."""
        runs = [
            advice.prediction.as_json()
            | {"chance": _or_none(advice.chance), "stop": advice.stop, "flops_left": _or_none(advice.flops_left)}
            for advice in self.runs
        ]
        return {
            "best": self.best,
            "stop": list(self.stop),
            "expected_regret_percent": self.expected_regret_percent,
            "flops_saved": _or_none(self.flops_saved),
            "flops_left": _or_none(self.flops_left),
            "runs": runs,
            "warnings": list(self.warnings),
        }


def advise(
    curves: pd.DataFrame,
    template: Template | str | Mapping[str, Template],
    at: float | None = None,
    method: str = LEAST_SQUARES,
    siblings: Sequence[str] | Literal["smaller"] | None = None,
    *,
    least_chance: float = LEAST_CHANCE,
    split: str | None = None,
    complete: bool = False,
) -> Advice:
    """Advise on the sweep in a checked table. Arguments and errors as in `predict_table`.

    A run that cannot be predicted goes on, and the advice says so. Raises CurveError where none can be.
    """
    predictions = predict_table(curves, template, at, method, siblings, split=split, complete=complete)
    known = {curve.run: curve for curve in curves_of(curves, split_of(curves, split), complete)}
    return advice_of(predictions, [training_flops(known[p.run]) for p in predictions], least_chance)


def advice_of(
    predictions: Sequence[Prediction], flops_total: Sequence[float], least_chance: float = LEAST_CHANCE
) -> Advice:
    """Return the advice that follows from predictions, and the FLOPs of each whole run.

    Errors of two runs are taken as independent, though those of one template are alike: so chances are rather too
    high, and fewer runs stop. Raises ConfigError for a chance outside (0, 0.5), CurveError without any prediction.
    """
    if not 0 < least_chance < 0.5:
        raise ConfigError("least chance", f"{least_chance}; must lie between 0 and 0.5.")
    valued = [p for p in predictions if p.predicted_final_loss is not None]
    if not valued:
        raise CurveError("sweep", "none of its runs can be predicted.", predictions[0].reason if predictions else "")
    best = min(valued, key=lambda p: p.predicted_final_loss or np.inf)
    runs = [_one(p, best, least_chance, total) for p, total in zip(predictions, flops_total, strict=True)]
    silent = [p.run for p in predictions if p.predicted_final_loss is None]
    notes = (f"no prediction, so these go on: {', '.join(silent)}",) if silent else ()
    return Advice(
        best=best.run,
        runs=tuple(runs),
        expected_regret_percent=sum(advice.regret_percent for advice in runs if advice.stop),
        flops_saved=float(sum(advice.flops_left for advice in runs if advice.stop)),
        flops_left=float(sum(advice.flops_left for advice in runs)),
        warnings=notes,
    )


def chance_below(value: float, deviation: float, best: float, best_deviation: float) -> tuple[float, float]:
    """Return the chance that one loss ends below another, and by how much it is expected to [percent].

    Both are normal in the log, with relative standard deviations; the expectation is that of max(0, log(best/value)).
    """
    gap, spread = float(np.log(best / value)), float(np.hypot(deviation, best_deviation))
    if spread == 0:
        return float(gap > 0), 100 * max(gap, 0.0)
    z = gap / spread
    chance = (1 + erf(z / sqrt(2))) / 2
    return chance, 100 * spread * (exp(-(z**2) / 2) / sqrt(2 * pi) + z * chance)


def training_flops(curve: Curve) -> float:
    """Return the FLOPs of the whole run: as the table says, else 6*N*D; NaN where not known."""
    stated = float(curve.facts.get("flops_total", np.nan))
    if np.isfinite(stated):
        return stated
    return FLOPS_PER_PARAMETER_AND_TOKEN * curve.size_params * float(curve.facts.get("tokens_total", np.nan))


def _one(prediction: Prediction, best: Prediction, least_chance: float, flops_total: float) -> RunAdvice:
    left = (1 - prediction.progress) * flops_total
    value, least = prediction.predicted_final_loss, best.predicted_final_loss
    if value is None or least is None:
        return RunAdvice(prediction, float("nan"), False, 0.0, left)
    if prediction.run == best.run:
        return RunAdvice(prediction, 1.0, False, 0.0, left)
    chance, loss = chance_below(value, prediction.deviation, least, best.deviation)
    return RunAdvice(prediction, chance, chance < least_chance and prediction.progress < 1, loss, left)


def _or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
