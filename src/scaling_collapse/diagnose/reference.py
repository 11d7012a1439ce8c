"""What a run is held against: finished runs of the family as they were logged, or the surrogate's curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from scaling_collapse.curves.curve import FINISHED, Curve
from scaling_collapse.curves.difficulty import adjusted_loss
from scaling_collapse.diagnose.whiten import WANDER
from scaling_collapse.errors import CurveError
from scaling_collapse.predict.match import TAU_WALK, TOLERATED_RATIO, stretch_of_tpp
from scaling_collapse.surrogate.form import Surrogate
from scaling_collapse.surrogate.schedule import RateCurve

#: Residuals start here: early-align takes 25-50% of training (section 1), and before, small models are on the bigram
#: plateau (lab notebook, 4).
ALIGN_FROM = 0.25

#: Walk of the residual against the surrogate, per sqrt(training): maximum likelihood over the 18 runs of `cpu` scale
#: that decay to zero and are not of the size that it was fitted on.
SURROGATE_WANDER = 0.010

#: Points at which the surrogate is evaluated.
_POINTS = np.linspace(0.005, 1.0, 400)


@dataclass(frozen=True)
class Reference:
    """Log loss (or log of normalised loss: only its changes count) `log_loss` (n,) at increasing `t_hat` (n,).

    A logged run is not smoothed: noise that it shares with the watched run, as same batches give, then cancels, and
    the rest stays white. `wander` is the sd, per sqrt(training), of the walk by which a healthy run parts from it;
    `notes` tell why it is larger than usual; `others` are averaged with it. Raises CurveError for arrays that are no
    curve, or one that does not reach the end of training.
    """

    t_hat: np.ndarray
    log_loss: np.ndarray
    source: str
    wander: float = WANDER
    notes: tuple[str, ...] = ()
    others: tuple[Reference, ...] = ()

    def __post_init__(self) -> None:
        t, values, where = self.t_hat, self.log_loss, f"reference {self.source}"
        if t.ndim != 1 or t.shape != values.shape or len(t) < 2 or not (np.diff(t) > 0).all():
            raise CurveError(where, "it needs two or more losses at increasing fractions of training.")
        if not np.isfinite(values).all():
            raise CurveError(where, "a loss is not positive and finite.", "take a run without such losses")
        if t[-1] < FINISHED:
            raise CurveError(where, f"it stops at {t[-1]:.1%} of its training.", "take a finished run")
        if not (np.isfinite(self.wander) and self.wander >= 0):
            raise CurveError(where, f"wander is {self.wander}; must be finite and 0 or more.")

    def means(self, start: np.ndarray, stop: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Return the mean of the log loss over each stretch (start, stop] of training, in the shape of `start`.

        A stretch with fewer than two of the reference's points gets the value interpolated `at` a point inside.
        """
        inside = np.searchsorted(self.t_hat, stop, side="right") - np.searchsorted(self.t_hat, start, side="right")
        edges = np.concatenate([[0.0], self.t_hat])
        width = np.maximum(stop - start, 1e-12)
        whole = (np.interp(stop, edges, self._integral) - np.interp(start, edges, self._integral)) / width
        own = np.where(inside >= 2, whole, np.interp(at, self.t_hat, self.log_loss))
        return np.asarray(np.mean([own, *(other.means(start, stop, at) for other in self.others)], axis=0))

    @cached_property
    def _integral(self) -> np.ndarray:
        steps = np.diff(self.t_hat, prepend=0.0)
        return np.concatenate([[0.0], np.cumsum(self.log_loss * steps)])


def reference_of(finished: Curve, run: Curve | None = None, wander: float = WANDER) -> Reference:
    """Return a finished run as reference, its loss adjusted for the difficulty of its batches where that is known.

    With the watched `run`, what it does not share with the reference widens the walk: tau as predict/match.py
    measured, TPP as theory has it (Eq. 6-9). Raises CurveError for two different schedules.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.log(adjusted_loss(finished.loss, finished.difficulty))
    reference = Reference(finished.t_hat, values, finished.run, wander)
    return reference if run is None else _allowing_for(reference, finished, run)


def pooled(references: Sequence[Reference]) -> Reference:
    """Return the mean of references, which is less noisy than each. Raises CurveError for none.

    The walk between two runs is that of both: against a mean of m runs its variance is (1 + 1/m)/2 of that.
    """
    if not references:
        raise CurveError("reference", "there is none to average.", "give finished runs")
    first, *others = references
    largest = max(reference.wander for reference in references)
    wander = largest * float(np.sqrt((1 + 1 / len(references)) / 2))
    notes = tuple(note for reference in references for note in reference.notes)
    source = first.source if not others else f"the mean of {len(references)} runs"
    return replace(first, source=source, wander=wander, notes=notes, others=tuple(others))


def surrogate_reference(surrogate: Surrogate, run: Curve, schedule: RateCurve) -> Reference:
    """Return the surrogate's curve for a run's tau and TPP. Raises CurveError where these are not known."""
    values = np.log(surrogate.evaluate(_POINTS, run.tau, run.tpp, schedule))
    return Reference(_POINTS, values, "the surrogate", SURROGATE_WANDER)


def _allowing_for(reference: Reference, finished: Curve, run: Curve) -> Reference:
    """Return the reference with the walk that differences to `run` add, and notes about those not tolerated."""
    kinds = [str(curve.facts.get("schedule") or "") for curve in (run, finished)]
    if all(kinds) and kinds[0] != kinds[1]:
        raise CurveError(
            run.run,
            f"its schedule is {kinds[0]}, that of reference {finished.run} is {kinds[1]}.",
            "take a reference with the same schedule, or none",
        )
    variance, notes = reference.wander**2, []
    for name, mine, its in (("tau", run.tau, finished.tau), ("tokens per parameter", run.tpp, finished.tpp)):
        ratio = mine / its
        if not (np.isfinite(ratio) and ratio > 0):
            continue
        if name == "tau":
            variance += (TAU_WALK * float(np.log(ratio))) ** 2
        else:
            fall = float(np.interp(ALIGN_FROM, reference.t_hat, reference.log_loss) - reference.log_loss[-1])
            variance += (stretch_of_tpp(its, ratio) * fall) ** 2 / (1 - ALIGN_FROM)
        if not 1 / TOLERATED_RATIO <= ratio <= TOLERATED_RATIO:
            notes.append(f"{name} is {ratio:.3g} times that of {finished.run}, so only larger faults are told")
    return replace(reference, wander=float(np.sqrt(variance)), notes=tuple(notes))
