from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scaling_collapse.config.recipe import Schedule
from scaling_collapse.errors import CurveError
from scaling_collapse.optim.schedules import learning_rate
from scaling_collapse.surrogate.rates import rates_of_run
from scaling_collapse.surrogate.schedule import RateCurve, logged_rates, rates_of
from tests.unit.surrogate.support import linear_rate, table_rows

KINDS = ["linear_to_zero", "linear_10x", "cosine", "wsd", "constant"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_schedule_is_that_of_training(kind):
    schedule = Schedule(kind=kind, warmup_fraction=0.2)
    rates = rates_of(schedule, steps=50)
    for step in (1, 10, 33, 50):
        assert rates(np.array([step / 50])) == pytest.approx([learning_rate(schedule, step, 50, 1)])
    assert rates.end == pytest.approx(learning_rate(schedule, 50, 50, 1))


def test_between_points_it_is_linear_and_beyond_them_it_stays():
    rates = RateCurve(np.array([0.2, 0.6]), np.array([1.0, 0.5]))
    assert rates(np.array([0.1, 0.2, 0.3, 0.6, 0.9])) == pytest.approx([1.0, 1.0, 0.875, 0.5, 0.5])


def test_a_log_is_divided_by_its_peak():
    rates = logged_rates(np.array([0.1, 0.5, 1.0]), np.array([0.02, 0.04, 0.01]))
    assert rates.factor == pytest.approx([0.5, 1.0, 0.25])


@pytest.mark.parametrize(
    ("t_hat", "factor", "message"),
    [
        ([0.1, 0.1], [1.0, 0.5], "do not increase"),
        ([0.1, 0.2], [1.0, -0.5], "negative or not finite"),
        ([0.1, 0.2], [1.0, np.nan], "negative or not finite"),
        ([0.1], [1.0, 0.5], "two equal vectors"),
        ([], [], "two equal vectors"),
    ],
)
def test_impossible_rates_are_errors(t_hat, factor, message):
    with pytest.raises(CurveError, match=message):
        RateCurve(np.array(t_hat), np.array(factor))


@pytest.mark.parametrize("lr", [[], [0.0, 0.0], [np.nan, 1.0]])
def test_a_log_without_a_peak_is_an_error(lr):
    with pytest.raises(CurveError, match="largest learning rate"):
        logged_rates(np.linspace(0.1, 1, len(lr)), np.array(lr))


def test_the_logged_rate_is_taken_whatever_the_schedule_is_called():
    rates = rates_of_run("a", table_rows("a", np.linspace(4, 3, 40), schedule="mine"))
    t = np.arange(1, 41) / 40
    assert rates(t) == pytest.approx(linear_rate(t) / linear_rate(t).max())


def test_validation_rows_without_a_rate_take_that_of_training():
    held_out = table_rows("a", np.linspace(4, 3, 40), split="validation", lr=np.nan)
    both = pd.concat([held_out, table_rows("a", np.linspace(4, 3, 40))])
    assert rates_of_run("a", both).end == pytest.approx(0.001 / 0.901 / (linear_rate(np.arange(1, 41) / 40).max()))


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_log_the_name_of_the_schedule_decides(kind):
    rows = table_rows("a", np.linspace(4, 3, 40), schedule=kind, lr=np.nan)
    t = np.linspace(0.01, 1, 50)
    assert rates_of_run("a", rows)(t) == pytest.approx(rates_of(Schedule(kind=kind))(t))


def test_a_run_in_progress_keeps_the_warm_up_that_it_logged():
    steps = np.arange(1, 41)
    rows = table_rows("a", np.linspace(4, 3, 40), tokens_total=100_000.0, lr=0.02 * np.minimum(steps / 25, 1))
    expected = rates_of(Schedule(kind="linear_to_zero", warmup_fraction=0.25))
    assert rates_of_run("a", rows)(np.array([0.1, 0.25, 0.7])) == pytest.approx(expected(np.array([0.1, 0.25, 0.7])))


def test_an_unknown_schedule_is_an_error_that_names_the_run():
    rows = table_rows("a", np.linspace(4, 3, 40), schedule="cosine_to10pct", lr=np.nan)
    with pytest.raises(CurveError, match=r"^a: .*'cosine_to10pct'.* Fix: give column lr") as caught:
        rates_of_run("a", rows)
    assert "\n" not in str(caught.value)


def test_tokens_that_are_not_known_leave_steps_of_complete_runs():
    rows = table_rows("a", np.linspace(4, 3, 40), tokens_total=np.nan)
    assert rates_of_run("a", rows)(np.array([0.55])) == pytest.approx(linear_rate(np.array([0.55])), rel=0.02)
