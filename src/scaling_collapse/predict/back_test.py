"""Back-tests on finished runs: how far each method errs at each progress, and whether its intervals cover the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from scaling_collapse.curves.curve import Curve
from scaling_collapse.errors import CurveError
from scaling_collapse.predict.methods import METHODS
from scaling_collapse.predict.predict import AUTO, Settings, conclude, estimates_of, known_final_loss, siblings_of
from scaling_collapse.predict.prediction import Prediction, refused
from scaling_collapse.predict.template import Template, template_of

if TYPE_CHECKING:
    import pandas as pd

#: Which template a run of a family is predicted from; None leaves the run out.
TemplateRule = Callable[[Sequence[Curve], Curve], Template | None]


def smallest(curves: Sequence[Curve], run: Curve) -> Template | None:
    """Return the family's smallest run as template for all others."""
    least = min(curves, key=lambda curve: curve.size_params)
    return None if least.run == run.run else template_of(least)


def next_smaller(curves: Sequence[Curve], run: Curve) -> Template | None:
    """Return the largest run that is smaller than `run` as its template."""
    below = [curve for curve in curves if curve.size_params < run.size_params]
    return template_of(max(below, key=lambda curve: curve.size_params)) if below else None


def back_test(
    families: Mapping[str, Sequence[Curve]],
    at: Sequence[float],
    rule: TemplateRule = smallest,
    siblings: Literal["none", "smaller"] = "none",
    methods: Sequence[str] = (AUTO, *METHODS),
    settings: Settings | None = None,
) -> pd.DataFrame:
    """Return a tidy table of predictions of finished runs, one row for each family, run, progress and method.

    Columns: family, run, template, progress, method (asked for), chosen, true_final_loss, predicted_final_loss, low,
    high, error_percent, covered (None without a prediction), half_width_percent, flagged (any warning), warnings.
    `siblings` "smaller" back-tests every method on the family's smaller runs first, as one would who trains by size.
    Runs that did not finish are left out; refusals are rows without a value.
    """
    import pandas as pd

    chosen = settings or Settings()
    rows = [
        row
        for family, curves in families.items()
        for fraction in at
        for row in _family_rows(family, curves, fraction, rule, siblings, methods, chosen)
    ]
    return pd.DataFrame(rows)


def errors(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the mean absolute error [percent] by family and progress (rows) and method (columns)."""
    sizes = rows.assign(error=rows["error_percent"].abs())
    return sizes.pivot_table(index=["family", "progress"], columns="method", values="error", sort=False, observed=True)


def coverage(rows: pd.DataFrame, method: str = AUTO) -> dict[str, float]:
    """Return how many predictions of `method` there are, what share of 90% intervals covers, and the median width."""
    used = rows[(rows["method"] == method) & rows["predicted_final_loss"].notna()]
    return {
        "predictions": float(len(used)),
        "covered_percent": 100 * float(used["covered"].astype(float).mean()),
        "median_half_width_percent": float(used["half_width_percent"].median()),
    }


def _family_rows(
    family: str,
    curves: Sequence[Curve],
    at: float,
    rule: TemplateRule,
    siblings: str,
    methods: Sequence[str],
    settings: Settings,
) -> Iterator[dict[str, Any]]:
    finished = [curve for curve in curves if known_final_loss(curve, settings) is not None]
    for run in finished:
        template = rule(finished, run)
        if template is None:
            continue
        smaller = [c for c in finished if c.size_params < run.size_params] if siblings == "smaller" else []
        for method, prediction in _predictions(run, template, at, smaller, methods, settings):
            yield _row(family, template, at, method, prediction)


def _predictions(
    run: Curve,
    template: Template,
    at: float,
    smaller: Sequence[Curve],
    methods: Sequence[str],
    settings: Settings,
) -> Iterator[tuple[str, Prediction]]:
    final = known_final_loss(run, settings)
    try:
        estimates, notes = estimates_of(run, template, at, settings)
    except CurveError as error:
        yield from ((method, refused(run.run, at, str(error), final)) for method in methods)
        return
    tested = siblings_of(smaller, template, at, settings)
    for method in methods:
        try:
            # Single methods are what others can do: no siblings.
            used = tested if method == AUTO else []
            yield method, conclude(estimates, notes, used, replace(settings, method=method), final)
        except CurveError as error:
            yield method, refused(run.run, at, str(error), final)


def _row(family: str, template: Template, at: float, method: str, prediction: Prediction) -> dict[str, Any]:
    value, low, high = prediction.predicted_final_loss, prediction.low, prediction.high
    true = prediction.true_final_loss
    covered = None if low is None or high is None or true is None else low <= true <= high
    return {
        "family": family,
        "run": prediction.run,
        "template": template.source,
        "progress": at,
        "method": method,
        "chosen": prediction.method,
        "true_final_loss": true,
        "predicted_final_loss": value,
        "low": low,
        "high": high,
        "error_percent": prediction.error_percent,
        "covered": covered,
        "half_width_percent": prediction.half_width_percent,
        "flagged": bool(prediction.warnings),
        "warnings": "; ".join(prediction.warnings),
    }
