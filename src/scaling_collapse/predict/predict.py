"""Predict the final losses of runs in progress, or of finished runs as if only a part were known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from scaling_collapse.curves.curve import Curve
from scaling_collapse.curves.normalise import Normalisation, final_loss, smoothed_loss
from scaling_collapse.errors import ConfigError, CurveError
from scaling_collapse.predict.choose import Sibling, Verdict, choose, reason, verdicts
from scaling_collapse.predict.estimate import Estimates, estimate
from scaling_collapse.predict.match import differs_no_further, match
from scaling_collapse.predict.methods import METHODS
from scaling_collapse.predict.part import part_of
from scaling_collapse.predict.prediction import FINISHED, Prediction, interval, refused
from scaling_collapse.predict.template import Template, default_normalisation

AUTO = "auto"

#: The paper's recipes warm up over the first 10% of training (sections 4 and 5).
USUAL_WARMUP = 0.1


@dataclass(frozen=True)
class Settings:
    """How to predict. `method` is "auto" or one of METHODS; `normalisation` None follows from the split.

    `on_mismatch` says what a template of other tokens per parameter or tau leads to. `max_half_width_percent` is the
    half-width of the interval that was asked for: a wider one is warned of. `warmup` holds the fraction of training
    at which each run's warm-up ends, as far as known. Raises ConfigError for an unknown method.
    """

    method: str = AUTO
    normalisation: Normalisation | None = None
    on_mismatch: Literal["warn", "refuse"] = "warn"
    max_half_width_percent: float | None = None
    warmup: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.method not in (AUTO, *METHODS):
            raise ConfigError("method", f"there is no {self.method!r}.", f"use one of: {', '.join((AUTO, *METHODS))}")

    def of(self, split: str) -> Normalisation:
        """Return how losses of `split` are normalised."""
        return default_normalisation(split) if self.normalisation is None else self.normalisation


def predict_run(
    curve: Curve,
    template: Template,
    at: float | None = None,
    siblings: Sequence[Sibling] = (),
    settings: Settings | None = None,
) -> Prediction:
    """Predict one run from its part up to fraction `at` of training (None: all that there is).

    A finished run that is cut by `at` keeps its true final loss beside the prediction; one that is not cut is its own
    prediction. Raises CurveError where nothing can be predicted: diverged, too few points, still in warm-up, another
    schedule.
    """
    chosen_settings = settings or Settings()
    if curve.diverged:
        raise CurveError(curve.run, "it diverged, so it has no final loss.", "leave it out")
    final = known_final_loss(curve, chosen_settings)
    if at is None and final is not None:
        return Prediction(curve.run, 1.0, final, final, final, FINISHED, "it is finished", (), final)
    estimates, notes = estimates_of(curve, template, at, chosen_settings)
    return conclude(estimates, notes, siblings, chosen_settings, final)


def estimates_of(
    curve: Curve, template: Template, at: float | None, settings: Settings
) -> tuple[Estimates, tuple[str, ...]]:
    """Return the estimates of all methods, and the warnings about template and part. Raises as `predict_run`."""
    _check_fraction(at)
    matched = match(curve, template, settings.on_mismatch)
    warmup = settings.warmup.get(curve.run, float("nan"))
    part = part_of(curve, template, settings.of(curve.split), at, warmup if np.isfinite(warmup) else 0.0)
    estimates = estimate(part, template, matched)
    notes = (*matched.warnings, *estimates.warnings)
    if not np.isfinite(warmup) and part.progress < USUAL_WARMUP:
        notes += (f"its {part.progress:.1%} of training may lie within warm-up, whose end is not known",)
    return estimates, notes


def conclude(
    estimates: Estimates,
    notes: tuple[str, ...],
    siblings: Sequence[Sibling],
    settings: Settings,
    final: float | None = None,
) -> Prediction:
    """Return the prediction by the asked method, or by the one that the data choose."""
    part = estimates.part
    candidates = verdicts(estimates, siblings)
    if settings.method == AUTO:
        chosen = choose(candidates)
        why = reason(chosen, candidates, estimates)
    elif settings.method in candidates:
        chosen, why = candidates[settings.method], "it was asked for"
    else:
        raise CurveError(part.run, f"{settings.method} has no value for it: too few or too flat points.")
    low, high = interval(chosen.value, chosen.deviation)
    prediction = Prediction(part.run, part.progress, chosen.value, low, high, chosen.method, why, notes, final)
    return prediction.with_warning(*_too_wide(prediction, chosen, settings))


def siblings_of(
    curves: Sequence[Curve], template: Template, at: float, settings: Settings | None = None
) -> list[Sibling]:
    """Return the back-tests of finished `curves` at fraction `at`; those that cannot be predicted are left out."""
    chosen, found = settings or Settings(), []
    for curve in curves:
        final = known_final_loss(curve, chosen)
        if final is None or curve.run == template.source:
            continue
        try:
            estimates, _ = estimates_of(curve, template, at, chosen)
        except CurveError:
            continue
        found.append(Sibling(curve.run, curve.size_params, final, estimates))
    return found


def predict_curves(
    curves: Sequence[Curve],
    template: Template | Mapping[str, Template],
    at: float | None = None,
    siblings: Sequence[Curve] | Literal["smaller"] = (),
    settings: Settings | None = None,
) -> list[Prediction]:
    """Predict each of `curves` but the template's own; a run that cannot be predicted says why in its warnings.

    `template` is one for all, or one for each run. `siblings` are finished runs that are back-tested at the same
    progress, with their own template where there is one; "smaller" are those of `curves` with fewer parameters than
    the run that differ from the template no further than the run does. Raises CurveError for an `at` that is no
    fraction of training.
    """
    _check_fraction(at)
    chosen = settings or Settings()
    pool: Sequence[Curve] = curves if isinstance(siblings, str) else siblings
    cache: dict[tuple[str, int, float], list[Sibling]] = {}
    found = []
    for curve in curves:
        own = template.get(curve.run) if isinstance(template, Mapping) else template
        if own is not None and own.source == curve.run:
            continue
        progress = float(min(curve.t_hat[-1], 1.0 if at is None else at))
        try:
            if own is None:
                raise CurveError(curve.run, "there is no template for it.", "give one for each run")
            others: list[Sibling] = []
            for sibling in pool:
                used = template.get(sibling.run, own) if isinstance(template, Mapping) else own
                if sibling.run == curve.run or (siblings == "smaller" and not _fits(sibling, used, curve, own)):
                    continue
                key = (sibling.run, id(used), round(progress, 2) if at is None else at)
                if key not in cache:
                    cache[key] = siblings_of([sibling], used, key[2], chosen)
                others += cache[key]
            found.append(predict_run(curve, own, at, others, chosen))
        except CurveError as error:
            found.append(refused(curve.run, progress, str(error), known_final_loss(curve, chosen)))
    return found


def _fits(sibling: Curve, its_template: Template, curve: Curve, template: Template) -> bool:
    smaller = sibling.size_params < curve.size_params
    return smaller and differs_no_further(sibling, its_template, curve, template)


def known_final_loss(curve: Curve, settings: Settings) -> float | None:
    """Return the final loss of a finished run, None for one in progress or diverged."""
    if not curve.finished:
        return None
    chosen = replace(settings.of(curve.split), final="smoothed")
    return final_loss(curve, smoothed_loss(curve, chosen))


def _too_wide(prediction: Prediction, chosen: Verdict, settings: Settings) -> tuple[str, ...]:
    asked = settings.max_half_width_percent
    if asked is None or prediction.half_width_percent <= asked:
        return ()
    return (f"its interval is +-{prediction.half_width_percent:.2f}%, wider than the +-{asked:g}% asked for",)


def _check_fraction(at: float | None) -> None:
    if at is not None and not 0 < at <= 1:
        raise CurveError("at", f"{at} is no fraction of training.", "give a number above 0 and up to 1")
