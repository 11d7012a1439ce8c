"""L(T) of a run before it starts, "estimate" in section 1: a power law through the finished runs of smaller scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scaling_collapse.curves.curve import Curve
from scaling_collapse.errors import CurveError
from scaling_collapse.predict.match import TOLERATED_RATIO
from scaling_collapse.predict.predict import Settings, known_final_loss
from scaling_collapse.predict.prediction import Prediction, interval
from scaling_collapse.scaling.power_law import fit_power_law, fit_power_law_with_offset

FAMILY_LAW = "family_power_law"

#: The law with an offset has three parameters: below this many scales nothing would test it.
SCALES_FOR_OFFSET = 4

#: Relative standard deviation of what is predicted one scale ahead from two or three scales: root mean square over the
#: `cpu` families with three or more sizes.
LAW_DEVIATION = 0.014


def predict_from_family(run: Curve, finished: Sequence[Curve], settings: Settings | None = None) -> Prediction:
    """Predict a run's final loss from `finished` runs of the same recipe at other scales; its own part is not used.

    x is parameters times tokens; parameters alone where tokens are not known. From four scales on the laws with and
    without offset are averaged, and half their difference enters the interval. Raises CurveError for fewer than two
    different scales, or sizes that are not known.
    """
    chosen = settings or Settings()
    known = [(curve, known_final_loss(curve, chosen)) for curve in finished if curve.run != run.run]
    pairs = [(curve, final) for curve, final in known if final is not None]
    curves = [curve for curve, _ in pairs]
    scale, unit = _scales([*curves, run])
    if len(np.unique(scale[:-1])) < 2:
        raise CurveError(run.run, f"{len(np.unique(scale[:-1]))} finished scale(s) of its family; the law needs two.")
    losses = np.array([final for _, final in pairs], dtype=float)
    plain = float(fit_power_law(scale[:-1], losses)(scale[-1]))
    value, deviation = plain, LAW_DEVIATION
    if len(np.unique(scale[:-1])) >= SCALES_FOR_OFFSET:
        offset = float(fit_power_law_with_offset(scale[:-1], losses)(scale[-1]))
        value = float(np.sqrt(plain * offset))
        deviation = float(np.hypot(LAW_DEVIATION, np.log(offset / plain) / 2))
    low, high = interval(value, deviation)
    why = f"a power law in {unit} through {len(curves)} finished run(s)"
    final = known_final_loss(run, chosen)
    return Prediction(run.run, 0.0, value, low, high, FAMILY_LAW, why, tuple(_notes(run, curves)), final)


def _scales(curves: Sequence[Curve]) -> tuple[np.ndarray, str]:
    sizes = np.array([curve.size_params for curve in curves])
    tokens = np.array([float(curve.facts.get("tokens_total", np.nan)) for curve in curves])
    if not (np.isfinite(sizes).all() and (sizes > 0).all()):
        raise CurveError(curves[-1].run, "parameters of a run of its family are not known.", "fill size_params in")
    if np.isfinite(tokens).all():
        return sizes * tokens, "parameters times tokens"
    return sizes, "parameters"


def _notes(run: Curve, curves: Sequence[Curve]) -> list[str]:
    ratios = [run.tpp / curve.tpp for curve in curves]
    apart = [ratio for ratio in ratios if np.isfinite(ratio) and not 1 / TOLERATED_RATIO <= ratio <= TOLERATED_RATIO]
    if not apart:
        return []
    worst = max(apart, key=lambda ratio: abs(np.log(ratio)))
    return [f"its tokens per parameter are {worst:.3g} times those of a run that the law goes through"]
