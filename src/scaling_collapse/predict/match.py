"""Does the template fit the run? Tokens per parameter, tau and schedule are compared, and a mismatch has its price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from scaling_collapse.curves.curve import Curve
from scaling_collapse.errors import CurveError
from scaling_collapse.predict.template import Template, total_steps
from scaling_collapse.scaling.compression import ALPHA, OPTIMAL_TPP

#: Ratios of TPP and of tau up to this pass. At `cpu` scale it costs 0.4% of the final loss for tau, aligned at 30% of
#: training, scarcely more than the difference between two seeds (0.33%); TPP is corrected by theory besides.
TOLERATED_RATIO = 1.25

#: How far theory's stretch for another TPP is trusted: a standard deviation of half of it. At `cpu` scale (20 to 80
#: TPP) theory as it stands predicts best, and intervals with a half cover 90 to 95%.
STRETCH_SHARE = 0.5

#: Standard deviation of the stretch where neither TPP nor sizes are known: theory's for a TPP ratio of 4.
UNKNOWN_STRETCH = 0.3

#: Standard deviation of the walk in time that a wrong tau adds, per unit of |log ratio| and sqrt of all training: with
#: it, 90% intervals cover 92% of the tau sweeps of `cpu` scale, aligned with another tau at 20 to 80% of training.
TAU_WALK = 0.03


@dataclass(frozen=True)
class Match:
    """How a run's curve is expected to differ from the template.

    The run's l - 1 is expected to be (1 + `stretch`) times the template's, with standard deviation `stretch_sd`;
    `walk` is the standard deviation of the walk in time that a wrong tau and the template's own error add.
    `comparable` is False where nothing is known to compare. `warnings` name the numbers.
    """

    stretch: float = 0.0
    stretch_sd: float = 0.0
    walk: float = 0.0
    comparable: bool = True
    warnings: tuple[str, ...] = ()


def match(curve: Curve, template: Template, on_mismatch: Literal["warn", "refuse"] = "warn") -> Match:
    """Compare a run with a template. Raises CurveError for another schedule, always.

    TPP or tau more than TOLERATED_RATIO apart give a warning, or a CurveError if `on_mismatch` is "refuse".
    """
    for name, value in (("tokens per parameter", curve.tpp), ("tau", curve.tau)):
        if value <= 0:
            raise CurveError(curve.run, f"{name} is {value:g}; must be positive.", "correct it, or leave it empty")
    schedule = str(curve.facts.get("schedule") or "")
    if schedule and template.schedule and schedule != template.schedule:
        raise CurveError(
            curve.run,
            f"its schedule is {schedule}, that of template {template.source} is {template.schedule}.",
            "choose a template with the same schedule",
        )
    tpp_ratio, template_tpp, note = _tpp_ratio(curve, template)
    tau_ratio = curve.tau / template.tau
    notes = [note, _apart("tokens per parameter", tpp_ratio, template, "theory (Eq. 6-9) corrects for it")]
    notes.append(_apart("tau", tau_ratio, template, "the interval is wider for it"))
    apart = [text for text in notes[1:] if text]
    if apart and on_mismatch == "refuse":
        raise CurveError(curve.run, f"the template does not fit: {'; '.join(apart)}.", "choose another template")
    comparable = bool(np.isfinite(tpp_ratio))
    stretch = stretch_of_tpp(template_tpp, tpp_ratio) if comparable else 0.0
    tau_walk = TAU_WALK * abs(float(np.log(tau_ratio))) if np.isfinite(tau_ratio) else 0.0
    return Match(
        stretch=stretch,
        stretch_sd=STRETCH_SHARE * abs(stretch) if comparable else UNKNOWN_STRETCH,
        walk=float(np.hypot(tau_walk, template.walk)),
        comparable=comparable,
        warnings=tuple(text for text in notes if text),
    )


def differs_no_further(sibling: Curve, its_template: Template, curve: Curve, template: Template) -> bool:
    """Return whether a sibling differs from its template no further than a run does from its own, the same way.

    Only then do its errors say something about the run's. Compared are tokens per parameter and tau, where known.
    """
    pairs = (
        (sibling.tpp / its_template.tpp, curve.tpp / template.tpp),
        (sibling.tau / its_template.tau, curve.tau / template.tau),
    )
    return all(
        min(1.0, own) / TOLERATED_RATIO <= ratio <= max(1.0, own) * TOLERATED_RATIO
        for ratio, own in pairs
        if np.isfinite(ratio) and np.isfinite(own)
    )


def stretch_of_tpp(tpp: float, ratio: float) -> float:
    """Return by how much l - 1 grows, relatively, when TPP changes from `tpp` to `ratio` times that.

    By Eq. 6-9, l - 1 = v^-a (t^-a - 1)/(1 + v^-a) with v = TPP/r: one shape in t, of an amplitude that v sets. Raises
    CurveError unless both are positive.
    """
    if not (tpp > 0 and ratio > 0):
        raise CurveError("template", f"tokens per parameter {tpp:g}, ratio {ratio:g}; both must be positive.")

    def amplitude(relative: float) -> float:
        return float(relative**-ALPHA / (1 + relative**-ALPHA))

    return amplitude(tpp * ratio / OPTIMAL_TPP) / amplitude(tpp / OPTIMAL_TPP) - 1


def _tpp_ratio(curve: Curve, template: Template) -> tuple[float, float, str]:
    """Return TPP over the template's, the template's TPP, and what had to be assumed."""
    ratio = curve.tpp / template.tpp
    if np.isfinite(ratio) and ratio > 0:
        return ratio, template.tpp, ""
    sizes, steps = template.size_params / curve.size_params, total_steps(curve) / template.steps
    if np.isfinite(sizes) and np.isfinite(steps):
        text = "tokens are not known: one batch size, and the template at 20 tokens per parameter, are assumed"
        return sizes * steps, OPTIMAL_TPP, text
    return float("nan"), float("nan"), "neither tokens per parameter nor sizes are known, so they are not compared"


def _apart(name: str, ratio: float, template: Template, remedy: str) -> str:
    if not np.isfinite(ratio) or 1 / TOLERATED_RATIO <= ratio <= TOLERATED_RATIO:
        return ""
    return f"{name} is {ratio:.3g} times that of template {template.source} (tolerated: {TOLERATED_RATIO}); {remedy}"
