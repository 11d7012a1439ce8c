"""What a run in progress is held against: finished runs, pooled, or a surrogate for its own recipe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import numpy as np

from scaling_collapse.config.recipe import Schedule, ScheduleKind
from scaling_collapse.curves.curve import Curve
from scaling_collapse.diagnose.reference import Reference, pooled, reference_of, surrogate_reference
from scaling_collapse.errors import CurveError
from scaling_collapse.live.own_run import OwnRun
from scaling_collapse.predict.match import TOLERATED_RATIO, match
from scaling_collapse.predict.surrogate_template import FITTED_POINTS, surrogate_template
from scaling_collapse.predict.template import Template, template_of
from scaling_collapse.surrogate.schedule import RateCurve, rates_of
from scaling_collapse.surrogate.stored import StoredSurrogate


def alarm_reference(run: OwnRun, finished: Sequence[Curve], surrogate: StoredSurrogate | None) -> Reference | None:
    """Return what the alarm compares with: the finished runs, else a surrogate of the run's own family, else None.

    A surrogate of another family is none: how far healthy runs walk from it is not known. Raises CurveError for a
    reference that did not finish, or has another schedule.
    """
    if finished:
        return pooled([reference_of(curve, run.outline) for curve in finished])
    rates = known_rates(run)
    if surrogate is None or surrogate.foreign or rates is None:
        return None
    return surrogate_reference(surrogate.surrogate, run.outline, rates)


def prediction_template(run: OwnRun, finished: Sequence[Curve], surrogate: StoredSurrogate) -> Template | None:
    """Return the template of predictions: the mean of the finished runs, else the surrogate's curve, else None.

    None where neither is there: no length, or no finished run while tau, TPP or a schedule of known name is missing.
    Raises CurveError for finished runs that differ in recipe from each other, or in schedule from the run.
    """
    if run.total_steps is None:
        return None
    if finished:
        template = _mean_template(finished)
        match(run.outline, template)
        return template
    rates = known_rates(run)
    if rates is None:
        return None
    evaluate = surrogate.surrogate.evaluate
    return surrogate_template(
        lambda t_hat, tau, tpp, _: evaluate(t_hat, tau, tpp, rates),
        run.outline,
        surrogate.mae_percent,
        surrogate.foreign,
        FITTED_POINTS,
    )


def known_rates(run: OwnRun) -> RateCurve | None:
    """Return the run's learning rates as a surrogate needs them; None where it lacks tau, TPP or a known schedule."""
    if run.total_steps is None or run.tau is None or run.tokens_per_parameter is None:
        return None
    if isinstance(run.schedule, Schedule):
        return rates_of(run.schedule)
    if run.schedule in get_args(ScheduleKind):
        return rates_of(Schedule.model_validate({"kind": run.schedule}))
    return None


def _mean_template(finished: Sequence[Curve]) -> Template:
    """Return the mean of the normalised curves at the points of the first, from where all have begun."""
    first, *others = [template_of(curve) for curve in finished]
    for other in others:
        _check_alike(first, other)
    if not others:
        return first
    begin = max(template.t_hat[0] for template in (first, *others))
    t_hat = first.t_hat[first.t_hat >= begin]
    mean = np.mean([template.at(t_hat) for template in (first, *others)], axis=0)
    return replace(first, t_hat=t_hat, normalised=mean, source=f"the mean of {len(finished)} runs")


def _check_alike(first: Template, other: Template) -> None:
    for name, ratio in (("tokens per parameter", other.tpp / first.tpp), ("tau", other.tau / first.tau)):
        if np.isfinite(ratio) and not 1 / TOLERATED_RATIO <= ratio <= TOLERATED_RATIO:
            raise CurveError(
                f"reference {other.source}",
                f"its {name} is {ratio:.3g} times that of {first.source}.",
                "give like runs",
            )
    if first.schedule != other.schedule:
        problem = f"its schedule is {other.schedule}, that of {first.source} is {first.schedule}."
        raise CurveError(f"reference {other.source}", problem, "give like runs")
