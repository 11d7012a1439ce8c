from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from scaling_collapse.curves.grid import GRID
from scaling_collapse.curves.normalise import Normalisation
from scaling_collapse.curves.smooth import RAW
from scaling_collapse.curves.table import checked
from scaling_collapse.errors import CurveError, ProjectError
from scaling_collapse.optim.timescale import timescale
from scaling_collapse.surrogate.data import curve_set
from scaling_collapse.surrogate.fit import fit_surrogate
from scaling_collapse.surrogate.schedule import RateCurve
from tests.unit.surrogate.support import drawn_curves, equation_4, linear_rate, table_rows


def falling(points: int) -> np.ndarray:
    t = np.arange(1, points + 1) / points
    return 3 * equation_4(t, linear_rate(t), b=0.19, q=0.8)


def table(*parts: pd.DataFrame) -> pd.DataFrame:
    return checked(pd.concat(parts, ignore_index=True), "curves.csv")


GOOD = table(table_rows("a", falling(400)), table_rows("b", falling(300)))


def test_curves_of_unequal_length_come_to_one_grid():
    curves = curve_set(GOOD, normalisation=Normalisation(smoothing=RAW))
    assert curves.runs == ("a", "b")
    assert curves.t_hat is GRID
    expected = equation_4(GRID, linear_rate(GRID), 0.19, 0.8)
    assert curves.loss == pytest.approx(np.tile(expected, (2, 1)), abs=2e-5)
    assert curves.rate == pytest.approx(np.tile(linear_rate(GRID), (2, 1)))
    assert curves.end_rate == pytest.approx([0.001 / 0.901] * 2)


def test_training_losses_are_smoothed_by_default_and_others_not():
    noisy = falling(2000) * (1 + 0.02 * np.random.default_rng(0).standard_normal(2000))
    both = table(table_rows("a", noisy), table_rows("a", falling(2000), split="validation", lr=np.nan))
    exact = equation_4(GRID, linear_rate(GRID), 0.19, 0.8)
    assert np.abs(curve_set(both).loss - exact).mean() < 0.004
    assert curve_set(both, "validation").loss[0] == pytest.approx(exact, abs=1e-5)


def test_tau_and_tpp_follow_from_their_factors():
    curves = curve_set(table(table_rows("a", falling(400), batch_tokens=2000.0, lr_peak=0.03, weight_decay=0.1)))
    assert curves.tau == pytest.approx([timescale(2000, lr=0.03, weight_decay=0.1, tokens=400_000)])
    assert curves.tpp == pytest.approx([20])


def test_stated_tau_and_tpp_go_before_their_factors():
    curves = curve_set(table(table_rows("a", falling(400), tau=0.7, tpp=33.0)))
    assert (curves.tau[0], curves.tpp[0]) == (0.7, 33.0)


def test_given_schedules_go_before_the_table():
    flat = RateCurve(np.array([1.0]), np.array([1.0]))
    curves = curve_set(GOOD, schedules={"b": flat})
    assert curves.end_rate == pytest.approx([0.001 / 0.901, 1.0])


def test_only_runs_that_decay_to_zero():
    ten = table_rows("ten", falling(400), lr=0.02 * (1 - 0.9 * np.arange(1, 401) / 400))
    curves = curve_set(table(table_rows("zero", falling(400)), ten))
    assert curves.decaying_to_zero().runs == ("zero",)
    with pytest.raises(CurveError, match="no run is left"):
        curves.of_size("1B")


def test_an_unknown_run_or_split():
    assert curve_set(GOOD, runs=["b"]).runs == ("b",)
    with pytest.raises(CurveError, match="no such run"):
        curve_set(GOOD, runs=["c"])
    with pytest.raises(CurveError, match="no curve of split 'test'"):
        curve_set(GOOD, "test")


UNUSABLE = {
    "constant loss": (table_rows("bad", np.full(400, 3.0)), "its loss is 3 at every step"),
    "missing tau": (
        table_rows("bad", falling(400), weight_decay=np.nan, lr_peak=np.nan),
        "its timescale tau is not known",
    ),
    "no decay": (table_rows("bad", falling(400), weight_decay=0.0), "its timescale tau is not known"),
    "negative tau": (table_rows("bad", falling(400), tau=-0.1), "its timescale tau is -0.1"),
    "TPP 0": (table_rows("bad", falling(400), tpp=0.0), "its tokens per parameter are 0"),
    "unknown TPP": (table_rows("bad", falling(400), size_params=np.nan), "its tokens per parameter are not known"),
    "unfinished": (table_rows("bad", falling(400)[:200], tokens_total=400_000.0), "it stops at 50.0%"),
    "diverged": (table_rows("bad", falling(400), status="diverged"), "it diverged"),
    "schedule": (table_rows("bad", falling(400), lr=np.nan, schedule="spiral"), "its schedule 'spiral'"),
    "two points": (table_rows("bad", falling(400)).iloc[[200, 399]], "the curve covers t_hat 0.5025 to 1"),
}


@pytest.mark.parametrize(("rows", "problem"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_run_that_cannot_be_used_is_a_one_line_error_or_left_out(rows, problem):
    both = table(table_rows("good", falling(400)), rows)
    with pytest.raises(CurveError, match=problem) as caught:
        curve_set(both)
    assert "\n" not in str(caught.value)
    partial = curve_set(both, skip=True)
    assert partial.runs == ("good",)
    ((run, reason),) = partial.left_out
    assert run == "bad"
    assert problem in reason or "grid" in str(caught.value)
    with pytest.raises(CurveError, match="no run of 1 can be used"):
        curve_set(table(rows), skip=True)


def test_missing_tau_says_what_to_give():
    with pytest.raises(CurveError, match=r"^bad: .* Fix: give column tau, or lr_peak, weight_decay above 0"):
        curve_set(table(UNUSABLE["missing tau"][0]))


@pytest.mark.parametrize(
    ("step", "loss", "message"),
    [(4, np.nan, "loss is empty"), (4, -3.0, "has loss -3.0"), (4, np.inf, "has loss inf")],
)
def test_bad_losses_do_not_get_this_far(step, loss, message):
    rows = table_rows("a", falling(400))
    rows.loc[step, "loss"] = loss
    with pytest.raises(CurveError, match=message):
        curve_set(table(rows))


def test_decreasing_steps_and_single_points_do_not_get_this_far():
    rows = table_rows("a", falling(400))
    with pytest.raises(CurveError, match="does not increase"):
        curve_set(table(rows.iloc[::-1]))
    with pytest.raises(CurveError, match="one point"):
        curve_set(table(rows.iloc[:1]))


SET = drawn_curves(3, 11)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tau": np.array([0.1, 0.0, 0.2])}, "^run1: it has a tau that is not positive"),
        ({"tpp": np.array([20, 20, np.nan])}, "^run2: it has a TPP that is not positive"),
        ({"loss": np.where(np.eye(3, 11) > 0, np.nan, SET.loss)}, "^run0: it has a normalised loss"),
        ({"loss": -SET.loss}, "^run0: it has a normalised loss"),
        ({"rate": SET.rate - 1}, "^run0: it has a learning rate"),
        ({"loss": SET.loss[:, :4]}, "3 runs and 11 points do not fit"),
        ({"sizes": ("a",)}, "do not fit"),
        ({"t_hat": SET.t_hat[::-1]}, "increasing fractions"),
        ({"t_hat": SET.t_hat + 0.2}, "increasing fractions"),
    ],
)
def test_arrays_that_no_fit_can_use_are_errors(change, message):
    with pytest.raises(ProjectError, match=message):
        replace(SET, **change)


def test_a_table_can_be_fitted():
    assert fit_surrogate(curve_set(GOOD, normalisation=Normalisation(smoothing=RAW))).mae_percent < 0.001
