"""Which run of a sweep to keep: the paper's three rules, and what each would have cost (section 8; Fig 9, 23 to 25)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from scaling_collapse.curves.curve import Curve
from scaling_collapse.curves.difficulty import adjusted_loss
from scaling_collapse.curves.grid import ROUNDING
from scaling_collapse.curves.normalise import position
from scaling_collapse.errors import CurveError
from scaling_collapse.predict.methods import LEAST_SQUARES
from scaling_collapse.predict.predict import Settings, known_final_loss, predict_curves
from scaling_collapse.predict.template import Template

if TYPE_CHECKING:
    import pandas as pd

RANDOM, CURRENT_BEST, PREDICTED_BEST = "random", "current_best", "predicted_best"
RULES = (RANDOM, CURRENT_BEST, PREDICTED_BEST)

#: The paper aligns by a divisor and leaves the norm open. Errors that all runs share cancel in a ranking, so noise is
#: what counts, and least squares has 2/pi of the variance of L1: at `cpu` scale, with templates of equal tau, it costs
#: at most 0.36% from 20% of training on in five sweeps, L1 0.62%, the automatic choice 0.62%.
RANKING = Settings(method=LEAST_SQUARES)

#: Longest line through the end of a part, as a share of it: at 20% of training, one over all of it, which is what the
#: end window would be, lies 12% too low at `cpu` scale, for curves are steep at the start; over a quarter, 0.3%.
END_SHARE = 0.25


def current_loss(curve: Curve, at: float, settings: Settings = RANKING) -> float:
    """Return the (smoothed) loss [nats] at the last point up to fraction `at`; NaN without two points.

    The line through the last points is no longer than END_SHARE of the part.
    """
    known = curve.t_hat <= at + ROUNDING
    if known.sum() < 2:
        return float("nan")
    normalisation = settings.of(curve.split)
    difficulty = None if curve.difficulty is None or not normalisation.adjust else curve.difficulty[known]
    loss, smoothing = adjusted_loss(curve.loss[known], difficulty), normalisation.smoothing
    if smoothing.kind == "none":
        return float(loss[-1])
    where = position(curve, smoothing)[known]
    window, end_window = smoothing.widths(round(len(loss) / float(curve.t_hat[known][-1])))
    shrunk = min(1.0, END_SHARE * float(where[-1]) / end_window)
    return float(replace(smoothing, window=shrunk * window, end_window=shrunk * end_window)(loss, where)[-1])


def regret(final: np.ndarray, judged: np.ndarray) -> tuple[int, float]:
    """Return which of the runs `judged` (n,) calls best, and how much worse than the best it ends [nats].

    `final` (n,) are the true final losses. NaN in `judged` is never chosen; with nothing but NaN the run is -1 and the
    regret NaN.
    """
    if not np.isfinite(judged).any():
        return -1, float("nan")
    chosen = int(np.nanargmin(judged))
    return chosen, float(final[chosen] - final.min())


def regret_curves(
    sweep: Sequence[Curve],
    template: Template | Mapping[str, Template],
    at: Sequence[float],
    settings: Settings = RANKING,
) -> pd.DataFrame:
    """Return what each rule would have cost, had the sweep been stopped at each progress.

    One row for each progress and rule: chosen (run, empty for random), regret_nats, regret_percent, and error_percent,
    the mean absolute error of what the rule takes for the final loss. Random is its expectation. Raises CurveError for
    a sweep of fewer than two finished runs, or a template out of the sweep itself.
    """
    import pandas as pd

    known = [(curve, known_final_loss(curve, settings)) for curve in sweep]
    pairs = [(curve, final) for curve, final in known if final is not None]
    curves, final = [curve for curve, _ in pairs], np.array([end for _, end in pairs], dtype=float)
    if len(curves) < 2:
        raise CurveError("sweep", f"{len(curves)} finished run(s); a regret needs at least two.")
    _check_outside(curves, template)
    rows: list[dict[str, Any]] = []
    for progress in at:
        predictions = predict_curves(curves, template, progress, settings=settings)
        values = [prediction.predicted_final_loss for prediction in predictions]
        judged = {
            CURRENT_BEST: np.array([current_loss(curve, progress, settings) for curve in curves]),
            PREDICTED_BEST: np.array([np.nan if value is None else value for value in values]),
        }
        rows.append(_row(progress, RANDOM, "", float(final.mean() - final.min()), final, float("nan")))
        for rule, losses in judged.items():
            chosen, nats = regret(final, losses)
            error = 100 * float(np.abs(losses / final - 1)[np.isfinite(losses)].mean()) if chosen >= 0 else np.nan
            rows.append(_row(progress, rule, curves[chosen].run if chosen >= 0 else "", nats, final, error))
    return pd.DataFrame(rows)


def _row(progress: float, rule: str, chosen: str, nats: float, final: np.ndarray, error: float) -> dict[str, Any]:
    percent = 100 * nats / float(final.min())
    return {
        "progress": progress,
        "rule": rule,
        "chosen": chosen,
        "regret_nats": nats,
        "regret_percent": percent,
        "error_percent": error,
    }


def _check_outside(curves: Sequence[Curve], template: Template | Mapping[str, Template]) -> None:
    names = {curve.run for curve in curves}
    used = template.values() if isinstance(template, Mapping) else [template]
    own = [one.source for one in used if one.source in names]
    pairs = template.items() if isinstance(template, Mapping) else [(name, template) for name in names]
    if own and any(run == one.source for run, one in pairs):
        raise CurveError(own[0], "it is a run of the sweep and its own template.", "use a template from outside")
