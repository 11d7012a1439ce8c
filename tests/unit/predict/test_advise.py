"""Advice: chances and expected regret against Monte Carlo, FLOPs by hand, and what cannot be predicted goes on."""

from __future__ import annotations

import json

import numpy as np
import pytest

from scaling_collapse.curves.table import checked
from scaling_collapse.errors import ConfigError, CurveError
from scaling_collapse.predict.advise import advice_of, advise, chance_below
from scaling_collapse.predict.prediction import Prediction, interval, refused
from tests.unit.predict.support import family, rows_of, template


def prediction(run: str, value: float, deviation: float, progress: float = 0.4) -> Prediction:
    low, high = interval(value, deviation)
    return Prediction(run, progress, value, low, high, "kriging")


@pytest.mark.parametrize(
    ("value", "deviation", "other"), [(3.1, 0.02, 0.01), (3.0, 0.01, 0.01), (2.9, 0.03, 0.0), (3.3, 0.01, 0.01)]
)
def test_chance_and_expected_loss_are_those_of_draws(value: float, deviation: float, other: float) -> None:
    random = np.random.default_rng(0)
    own = np.log(value) + deviation * random.standard_normal(400_000)
    best = np.log(3.0) + other * random.standard_normal(400_000)
    chance, lost = chance_below(value, deviation, 3.0, other)
    assert chance == pytest.approx(np.mean(own < best), abs=0.004)
    assert lost == pytest.approx(100 * np.mean(np.maximum(best - own, 0)), abs=0.01)


def test_without_uncertainty_the_lower_one_wins() -> None:
    assert chance_below(3.1, 0.0, 3.0, 0.0) == (0.0, 0.0)
    assert chance_below(2.9, 0.0, 3.0, 0.0) == (1.0, pytest.approx(100 * np.log(3.0 / 2.9)))


def test_losers_stop_and_their_flops_are_saved() -> None:
    predictions = [
        prediction("good", 3.0, 0.005),
        prediction("close", 3.01, 0.005),
        prediction("bad", 3.3, 0.005, 0.25),
    ]
    found = advice_of(predictions, [100.0, 100.0, 200.0])
    assert (found.best, found.stop) == ("good", ("bad",))
    assert found.flops_saved == pytest.approx(0.75 * 200)
    assert found.flops_left == pytest.approx(0.6 * 100 + 0.6 * 100 + 150)
    assert 0 <= found.expected_regret_percent < 0.01
    assert json.dumps(found.as_json(), allow_nan=False)


def test_a_run_that_is_finished_or_not_predicted_is_not_stopped() -> None:
    done = Prediction("done", 1.0, 3.5, 3.5, 3.5, "finished")
    found = advice_of([prediction("good", 3.0, 0.001), done, refused("late", 0.05, "too early")], [1.0, 1.0, 1.0])
    assert found.stop == ()
    assert "late" in found.warnings[0]
    assert json.dumps(found.as_json(), allow_nan=False)
    unknown = advice_of([prediction("good", 3.0, 0.001), prediction("bad", 4.0, 0.001)], [1.0, float("nan")])
    assert unknown.as_json()["flops_saved"] is None


def test_impossible_questions_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"between 0 and 0\.5"):
        advice_of([prediction("a", 3.0, 0.1)], [1.0], least_chance=0.7)
    with pytest.raises(CurveError, match="none of its runs can be predicted"):
        advice_of([refused("a", 0.1, "too early")], [1.0])


def test_a_sweep_in_a_table_is_advised_on() -> None:
    table = rows_of(family())
    going = table[table["tokens"] <= 0.5 * 2e9]
    found = advise(checked(going, "t"), template())
    assert found.best == "r3"
    assert set(found.stop) == {"r0", "r1", "r2"}
    assert found.flops_saved == pytest.approx(0.5 * 6 * 2e9 * (1e8 + 2e8 + 4e8), rel=1e-6)
