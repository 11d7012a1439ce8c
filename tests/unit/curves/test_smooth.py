from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaling_collapse.curves.smooth import RAW, Smoothing, local_linear, moving_average
from scaling_collapse.errors import CurveError
from tests.unit.curves.support import shape

STEPS = np.arange(1.0, 501)
NOISE = np.random.default_rng(0).normal(3, 0.1, 500)


def brute_force_line(loss, position, left, right, at):
    """Value at `at` of the least-squares line through the points in [at - left, at + right]."""
    near = (position >= at - left - 1e-9) & (position <= at + right + 1e-9)
    return np.polyval(np.polyfit(position[near] - at, loss[near], 1), 0.0)


def test_centred_average_inside_equals_numpy_convolve():
    ours = moving_average(NOISE, STEPS, 101)
    reference = np.convolve(NOISE, np.ones(101) / 101, mode="valid")
    assert ours[50:-50] == pytest.approx(reference)


def test_trailing_average_equals_pandas_rolling():
    import pandas as pd

    ours = moving_average(NOISE, STEPS, 100, align="trailing")
    assert ours == pytest.approx(pd.Series(NOISE).rolling(100, min_periods=1).mean().to_numpy())


@pytest.mark.parametrize("position", [STEPS, np.cumsum(np.random.default_rng(1).uniform(0.5, 2, 500))])
def test_straight_lines_stay_straight_up_to_the_edges(position):
    line = 5 - 0.003 * position
    span = position[-1] - position[0]
    assert local_linear(line, position, 0.1 * span, 0.2 * span) == pytest.approx(line)
    if position is STEPS:  # a mean of points at uneven distances is no point of the line
        assert moving_average(line, position, 51) == pytest.approx(line)


@given(window=st.integers(3, 120), more=st.floats(1, 3), uneven=st.booleans())
def test_local_linear_at_the_end_is_the_least_squares_line(window, more, uneven):
    position = np.cumsum(np.random.default_rng(2).uniform(0.5, 2, 500)) if uneven else STEPS
    smooth = local_linear(NOISE, position, float(window), more * window)
    assert smooth[-1] == pytest.approx(brute_force_line(NOISE, position, more * window, 0, position[-1]), abs=1e-7)


def test_local_linear_inside_is_the_centred_average():
    smooth = local_linear(NOISE, STEPS, 50, 100)
    assert smooth[100] == pytest.approx(NOISE[75:126].mean())  # within 25 steps on either side
    assert smooth[0] == NOISE[0]


def test_window_between_inside_and_end_is_the_least_squares_line_too():
    smooth = local_linear(NOISE, STEPS, 50, 100)
    # 10 steps before the end: 10 on the right; on the left 25 and 15/25 of the 75 that are added at the very end.
    assert smooth[489] == pytest.approx(brute_force_line(NOISE, STEPS, 25 + 45, 10, 490.0))


def test_a_mean_lags_at_the_end_and_a_line_does_not():
    falling = 4 - 0.001 * STEPS
    assert moving_average(falling, STEPS, 100, "trailing")[-1] - falling[-1] == pytest.approx(0.0495)
    assert local_linear(falling, STEPS, 50, 100)[-1] == pytest.approx(falling[-1])


def test_many_curves_at_once_equal_one_by_one():
    many = np.random.default_rng(3).normal(3, 0.1, (4, 500))
    for smooth in (
        Smoothing(window=0.1),
        Smoothing(kind="centred", window=0.1),
        Smoothing(kind="trailing", window=0.1),
    ):
        together = smooth(many, STEPS / 500)
        assert together == pytest.approx(np.array([smooth(one, STEPS / 500) for one in many]))


def test_windows_in_sequences_are_windows_in_tokens():
    # 12,288 sequences in batches of 96 are 128 steps (section 2).
    tokens = STEPS * 96 * 2048
    over_tokens = moving_average(NOISE, tokens, 12288 * 2048, "trailing")
    assert over_tokens == pytest.approx(moving_average(NOISE, STEPS, 128, "trailing"))


@pytest.mark.parametrize(("tpp", "points", "bias", "noise"), [(20, 2500, 0.06, 0.36), (234, 30000, 0.06, 0.2)])
def test_bias_and_noise_of_the_default_on_known_curves(tpp, points, bias, noise):
    """Batch noise of 3%: the numbers that docs/lab-notebook.md quotes, for l on t_hat in [0.2, 1], in percent."""
    t_hat, rng = np.arange(1, points + 1) / points, np.random.default_rng(4)
    truth, late = shape(t_hat, 0.7826 * tpp**-0.5, tpp), t_hat >= 0.2

    def l_of(loss):
        smooth = Smoothing()(loss, t_hat)
        return 100 * (smooth / smooth[..., -1:])[..., late]

    assert np.sqrt(np.mean((l_of(truth) - 100 * truth[late]) ** 2)) < bias
    draws = l_of(truth * (1 + 0.03 * rng.standard_normal((100, points))))
    assert np.sqrt(np.mean(draws.var(axis=0, ddof=1))) < noise


def test_automatic_window_shrinks_with_many_points():
    assert Smoothing().widths(100) == (0.1, 0.2)
    assert Smoothing().widths(2500) == (0.1, 0.2)
    assert Smoothing().widths(10000) == pytest.approx((0.05, 0.1))


def test_no_smoothing():
    assert RAW(NOISE, STEPS) is NOISE


def test_a_thousand_curves_of_ten_thousand_points_take_seconds():
    loss, position = np.random.default_rng(5).normal(3, 0.1, 10_000), np.arange(1, 10_001) / 10_000
    smooth, start = Smoothing(), time.process_time()
    for _ in range(20):
        smooth(loss, position)
    assert time.process_time() - start < 20 * 0.02  # 20 s for 1,000 even on a slow machine; 2 s measured


@pytest.mark.parametrize(
    ("loss", "position", "window", "message"),
    [
        (NOISE, STEPS[::-1], 10.0, "do not increase"),
        (NOISE[:1], STEPS[:1], 10.0, "two or more"),
        (NOISE[:10], STEPS, 10.0, "two or more"),
        (NOISE, STEPS, 0.0, "must be positive"),
        (NOISE, STEPS, np.nan, "must be positive"),
    ],
)
def test_bad_input(loss, position, window, message):
    with pytest.raises(CurveError, match=message):
        moving_average(loss, position, window)
    with pytest.raises(CurveError, match=message):
        local_linear(loss, position, window, 2 * window)


def test_bad_windows():
    with pytest.raises(CurveError, match="below half"):
        local_linear(NOISE, STEPS, 10, 4)
    with pytest.raises(CurveError, match="automatic window is a fraction"):
        Smoothing(unit="steps")(NOISE, STEPS)
