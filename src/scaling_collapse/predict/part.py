"""The known part of a run in progress, condensed to few points beside the template's values there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scaling_collapse.curves.curve import Curve
from scaling_collapse.curves.difficulty import adjusted_loss
from scaling_collapse.curves.grid import ROUNDING
from scaling_collapse.curves.normalise import Normalisation
from scaling_collapse.curves.smooth import AUTOMATIC
from scaling_collapse.errors import CurveError
from scaling_collapse.predict.template import Template

#: Alignments use the last half of the part, as the paper's 25-50% of training does (section 1); the power law uses
#: its last three quarters, since it needs curvature.
ALIGN_FROM, POWER_LAW_FROM = 0.5, 0.25

#: Denser parts are averaged into this many bins, evenly spaced in log t_hat.
BINS = 40

#: Relative standard deviation of one validation loss at `cpu` scale (maximum likelihood over its five matched
#: families), and the points that this prior counts for where a part has few.
TYPICAL_NOISE, TYPICAL_NOISE_POINTS = 0.0028, 4

#: A prediction needs at least this many points in the aligned window.
FEWEST_POINTS = 2


@dataclass(frozen=True)
class Part:
    """Points of one run up to its `progress` (a fraction of training); arrays have shape (m,).

    `loss` [nats] and the `template`'s l at `t_hat`, each the mean of `count` logged points. `noise` is the relative
    standard deviation of one logged point, `final_noise` that of the final loss as it will be read off. `window` is
    the first point of the aligned window.
    """

    run: str
    progress: float
    t_hat: np.ndarray
    loss: np.ndarray
    template: np.ndarray
    count: np.ndarray
    window: int
    noise: float
    final_noise: float


def part_of(
    curve: Curve, template: Template, normalisation: Normalisation, at: float | None = None, warmup: float = 0.0
) -> Part:
    """Return the part of `curve` up to fraction `at` of training (None: all that there is).

    `warmup` is the fraction of training at which warm-up ends, and nothing before it is aligned. Raises CurveError
    where too few points are left, naming how many, or where the part does not reach beyond warm-up.
    """
    end = 1.0 if at is None else at
    known = curve.t_hat <= end + ROUNDING
    if known.sum() < FEWEST_POINTS:
        raise CurveError(curve.run, f"it has {int(known.sum())} point(s) up to {end:.4g} of training.", "train longer")
    difficulty = None if curve.difficulty is None or not normalisation.adjust else curve.difficulty[known]
    t_hat, loss = curve.t_hat[known], adjusted_loss(curve.loss[known], difficulty)
    if not (np.isfinite(loss).all() and (loss > 0).all() and (np.diff(t_hat) > 0).all()):
        raise CurveError(curve.run, "losses must be positive and finite, steps increase.", "end it before the fault")
    if np.ptp(curve.loss[known]) == 0:
        raise CurveError(curve.run, f"its loss is {curve.loss[0]:g} at every step, which is no training curve.")
    progress = float(min(curve.t_hat[-1], end))
    _check_reach(curve.run, progress, template, warmup)
    used = t_hat >= max(POWER_LAW_FROM * progress, float(template.t_hat[0])) - ROUNDING
    aligned = used & (t_hat >= max(ALIGN_FROM * progress, warmup) - ROUNDING)
    if aligned.sum() < FEWEST_POINTS:
        text = f"{int(aligned.sum())} point(s) in the last half of its {progress:.1%} after warm-up"
        raise CurveError(curve.run, f"{text}; need {FEWEST_POINTS}.")
    noise = _noise(loss[aligned] / template.at(t_hat[aligned]))
    bins = _bins(t_hat[used], int((used & ~aligned).sum()))
    counts = np.diff([*bins, int(used.sum())]).astype(float)

    def mean(values: np.ndarray) -> np.ndarray:
        return np.asarray(np.add.reduceat(values, bins) / counts)

    return Part(
        run=curve.run,
        progress=progress,
        t_hat=mean(t_hat[used]),
        loss=mean(loss[used]),
        template=mean(template.at(t_hat[used])),
        count=counts,
        window=int(np.searchsorted(bins, (used & ~aligned).sum())),
        noise=noise,
        final_noise=noise * _final_noise_factor(normalisation, len(t_hat) / progress),
    )


def _check_reach(run: str, progress: float, template: Template, warmup: float) -> None:
    """Raise CurveError for a part that does not reach beyond warm-up, or to where its template begins."""
    if progress <= warmup + ROUNDING:
        raise CurveError(
            run, f"its {progress:.1%} of training lie within warm-up, which ends at {warmup:.1%}.", "train longer"
        )
    start = float(template.t_hat[0])
    if progress <= start + ROUNDING:
        raise CurveError(
            run,
            f"its {progress:.1%} of training end before {template.source}, the template, begins at {start:.1%}.",
            "train longer",
        )


def _noise(ratio: np.ndarray) -> float:
    """Return the relative noise of one point, from neighbours' differences of loss over template."""
    square = float(np.sum(np.diff(np.log(ratio)) ** 2) / 2)
    return float(np.sqrt((TYPICAL_NOISE_POINTS * TYPICAL_NOISE**2 + square) / (TYPICAL_NOISE_POINTS + len(ratio) - 1)))


def _bins(t_hat: np.ndarray, before: int) -> np.ndarray:
    """Return the first index of each bin, such that one begins at `before`; sparse parts keep all their points."""
    if len(t_hat) <= 3 * BINS:
        return np.arange(len(t_hat))
    edges = np.searchsorted(t_hat, np.geomspace(t_hat[0], t_hat[-1], BINS + 1)[1:-1])
    return np.unique(np.concatenate([[0, min(before, len(t_hat) - 1)], edges]))


def _final_noise_factor(normalisation: Normalisation, points: float) -> float:
    """Return the noise of L(T) over that of a point: 1 if raw; 2/sqrt(points in the end window) if smoothed."""
    if normalisation.smoothing.kind == "none" or normalisation.final == "raw":
        return 1.0
    smoothing = normalisation.smoothing if normalisation.smoothing.unit == "fraction" else AUTOMATIC
    _, end_window = smoothing.widths(max(2, round(points)))
    return float(min(1.0, 2 / np.sqrt(max(end_window * points, 1.0))))
