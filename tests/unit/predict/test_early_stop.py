"""The three rules of early stopping, on a sweep whose curves cross."""

from __future__ import annotations

import numpy as np
import pytest

from scaling_collapse.curves.curve import Curve
from scaling_collapse.errors import CurveError
from scaling_collapse.predict.early_stop import (
    CURRENT_BEST,
    PREDICTED_BEST,
    RANDOM,
    current_loss,
    regret,
    regret_curves,
)
from scaling_collapse.predict.template import Template
from tests.unit.curves.support import shape
from tests.unit.predict.support import grid, run

#: A small tau is ahead early and falls less late (Fig 3), so the current best is the wrong choice.
TAUS = {0.05: 3.10, 0.2: 3.00, 0.8: 3.05}


def sweep() -> tuple[list[Curve], dict[str, Template]]:
    curves, templates = [], {}
    for tau, final in TAUS.items():
        name = f"tau{tau}"
        curves.append(run(name, final * shape(grid(), tau), tau=tau))
        templates[name] = Template(grid(), shape(grid(), tau), "surrogate", 20.0, tau, "linear_to_zero")
    return curves, templates


def test_predicted_best_is_right_and_random_is_the_mean() -> None:
    curves, templates = sweep()
    rows = regret_curves(curves, templates, (0.2, 0.5)).set_index(["rule", "progress"])
    assert rows.loc[(PREDICTED_BEST, 0.2), "chosen"] == "tau0.2"
    assert rows.loc[(PREDICTED_BEST, 0.2), "regret_percent"] == pytest.approx(0)
    assert rows.loc[(RANDOM, 0.5), "regret_nats"] == pytest.approx(0.05)
    assert rows.loc[(RANDOM, 0.5), "regret_percent"] == pytest.approx(100 * 0.05 / 3.0)
    assert rows.loc[(PREDICTED_BEST, 0.5), "error_percent"] == pytest.approx(0, abs=0.05)


def test_current_best_is_fooled_where_curves_cross() -> None:
    curves, templates = sweep()
    crossing = run("crossing", np.where(grid() < 0.4, 0.9, 1.1) * 3.0 * shape(grid()), tau=0.2)
    templates["crossing"] = templates["tau0.2"]
    rows = regret_curves([*curves, crossing], templates, (0.3,)).set_index("rule")
    assert rows.loc[CURRENT_BEST, "chosen"] == "crossing"
    assert rows.loc[CURRENT_BEST, "regret_percent"] == pytest.approx(10, abs=0.1)
    current = [current_loss(curve, 0.3) for curve in (*curves, crossing)]
    final = np.array([*TAUS.values(), 3.3])
    assert rows.loc[CURRENT_BEST, "error_percent"] == pytest.approx(100 * np.mean(np.abs(current / final - 1)))


def test_regret_of_nothing_is_not_known() -> None:
    assert regret(np.array([3.0, 3.1]), np.array([np.nan, 3.5])) == (1, pytest.approx(0.1))
    chosen, lost = regret(np.array([3.0, 3.1]), np.array([np.nan, np.nan]))
    assert chosen == -1
    assert np.isnan(lost)


def test_current_loss_reads_nothing_later() -> None:
    curve = sweep()[0][0]
    curve.loss[30:] = np.nan
    assert current_loss(curve, 0.5) == pytest.approx(curve.loss[29])
    assert np.isnan(current_loss(curve, 0.01))


@pytest.mark.parametrize("at", [0.1, 0.2, 0.3, 0.5, 0.9])
def test_current_loss_of_a_training_curve_is_smoothed_without_undershooting(at: float) -> None:
    """The end window of the whole curve, 20% of training, would lie 10% too low at the steep start."""
    steps = np.arange(1, 2001) / 2000
    course = 3.0 * (1 + 0.35 * (np.minimum(steps, 1) ** -0.4 - 1) / 2)
    noisy = course * (1 + 0.01 * np.random.default_rng(0).standard_normal(len(steps)))
    exact, measured = (current_loss(run("x", loss, "train"), at) for loss in (course, noisy))
    assert exact == pytest.approx(float(np.interp(at, steps, course)), rel=0.004)
    assert measured == pytest.approx(exact, rel=0.01)


def test_a_sweep_must_not_hold_its_own_template() -> None:
    curves, _ = sweep()
    with pytest.raises(CurveError, match="its own template"):
        regret_curves(curves, Template(grid(), shape(grid()), "tau0.2", 20.0, 0.2), (0.3,))
    with pytest.raises(CurveError, match="at least two"):
        regret_curves(curves[:1], Template(grid(), shape(grid()), "x"), (0.3,))
