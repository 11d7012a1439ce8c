"""Templates from a surrogate of the universal curve, alone or as a correction of a real one.

The surrogate comes as a function (t_hat, tau, tpp, schedule) -> l of shape (n,), so this room knows no fit.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from scaling_collapse.curves.curve import Curve
from scaling_collapse.curves.grid import FIRST_FRACTION
from scaling_collapse.curves.measures import PERCENT
from scaling_collapse.errors import CurveError
from scaling_collapse.predict.template import Template

#: l at t_hat (n,) for tau, tokens per parameter and schedule.
Surrogate = Callable[[np.ndarray, float, float, str], np.ndarray]

#: Where a surrogate is evaluated, and where it was fitted (section 2): before, it is off by several percent.
POINTS = np.linspace(0.005, 1.0, 400)
FITTED_POINTS = np.linspace(FIRST_FRACTION, 1.0, 401)

#: Mean absolute error over t_hat in [0.2, 1], the range of the fits, of a walk in time that is 0 at the end and has the
#: standard deviation 1 per sqrt of all training: sqrt(2/pi) * 2/3 * sqrt(0.8).
MAE_OF_WALK = float(np.sqrt(2 / np.pi) * 2 / 3 * np.sqrt(1 - FIRST_FRACTION))


def surrogate_template(
    evaluate: Surrogate, curve: Curve, mae_percent: float = 0.0, foreign: bool = False, points: np.ndarray = POINTS
) -> Template:
    """Return the surrogate's curve at `points` for a run's own tau, tokens per parameter and schedule.

    `mae_percent` is the surrogate's mean error on the curves that it was fitted to, which widens the intervals;
    `foreign` says that these are of another family. Raises CurveError where tau or tokens per parameter are not known.
    """
    tau, tpp, schedule = _known(curve)
    shape = _ends_at_one(evaluate(points, tau, tpp, schedule))
    walk = mae_percent / PERCENT / MAE_OF_WALK
    return Template(points, shape, "surrogate", tpp, tau, schedule, walk=walk, foreign=foreign)


def corrected_template(template: Template, evaluate: Surrogate, curve: Curve) -> Template:
    """Return a real template times the surrogate's ratio of the run's curve to the template's.

    What the surrogate gets wrong for both alike, cancels. Raises CurveError where tau or tokens per parameter of the
    run or of the template are not known.
    """
    tau, tpp, schedule = _known(curve)
    if not (np.isfinite(template.tau) and np.isfinite(template.tpp)):
        raise CurveError(f"template {template.source}", "tau or tokens per parameter is not known.", "fill them in")
    own = _ends_at_one(evaluate(template.t_hat, tau, tpp, schedule))
    theirs = _ends_at_one(evaluate(template.t_hat, template.tau, template.tpp, template.schedule))
    source = f"{template.source}, corrected by the surrogate"
    return Template(template.t_hat, template.normalised * own / theirs, source, tpp, tau, schedule)


def _known(curve: Curve) -> tuple[float, float, str]:
    if not (np.isfinite(curve.tau) and np.isfinite(curve.tpp)):
        raise CurveError(
            curve.run, "its tau or tokens per parameter is not known, as the surrogate needs.", "use a run as template"
        )
    return curve.tau, curve.tpp, str(curve.facts.get("schedule") or "")


def _ends_at_one(values: np.ndarray) -> np.ndarray:
    return np.asarray(values / values[-1])
