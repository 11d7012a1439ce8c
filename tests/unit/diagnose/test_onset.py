from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from scaling_collapse.diagnose.onset import _best_falls, onset_above_fall, onset_above_level
from tests.unit.diagnose.support import after, course

BINS = 150
FRACTION, COUNT = np.arange(1, BINS + 1) / BINS, np.full(BINS, 10.0)


@given(st.integers(0, 10_000), st.integers(2, 40))
@settings(max_examples=25, deadline=None)
def test_the_best_fall_is_that_of_isotonic_regression(seed, points):
    rng = np.random.default_rng(seed)
    values, weights = rng.standard_normal(points), rng.uniform(0.5, 2, points)
    misfit, level = _best_falls(values, weights)
    for stop in range(1, points):
        fit = isotonic_regression(values[:stop], weights=weights[:stop], increasing=False).x
        assert level[stop - 1] == pytest.approx(fit[-1])
        assert misfit[stop - 1] == pytest.approx(weights[:stop] @ (values[:stop] - fit) ** 2, abs=1e-9)


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("begin", [0.4, 0.6])
def test_an_onset_without_noise_is_exact(power, begin):
    values = np.log(after(FRACTION, begin, 0.05, power))
    values[begin < FRACTION] += 1e-9
    found = onset_above_level(values, COUNT, FRACTION, 1e-8, 1e-4)
    assert FRACTION[found.index] == pytest.approx(begin + 1 / BINS, abs=1.01 / BINS)
    assert found.power == power


@pytest.mark.parametrize("power", [0.0, 1.0])
def test_the_interval_holds_the_onset_nine_times_in_ten(power):
    rng, inside, runs = np.random.default_rng(0), 0, 120
    for _ in range(runs):
        walk = np.cumsum(rng.standard_normal(BINS)) * 0.0035 / np.sqrt(BINS)
        values = np.log(after(FRACTION, 0.6, 0.06, power)) + walk + 0.004 * rng.standard_normal(BINS)
        found = onset_above_level(values, COUNT, FRACTION, 0.004**2 * 10, 0.0035)
        inside += FRACTION[found.low - 1] <= 0.6 + 1e-9 and FRACTION[found.high] >= 0.6 - 1e-9
    assert inside >= 98  # 1 in 1,000 at 90%


def test_an_onset_is_no_later_than_where_the_rise_was_told() -> None:
    """A rise that runs away looks like a later one, once most of it has been seen."""
    values = 1e-4 * np.exp(np.clip(FRACTION - 0.6, 0, None) / 0.02)
    told = int(np.searchsorted(FRACTION, 0.65))
    assert onset_above_level(values, COUNT, FRACTION, 1e-6, 1e-3).index > told
    assert onset_above_level(values, COUNT, FRACTION, 1e-6, 1e-3, told).index <= told


@pytest.mark.parametrize("power", [0.0, 1.0])
def test_a_rise_of_a_falling_loss_is_dated(power):
    rng, errors = np.random.default_rng(1), []
    for _ in range(30):
        loss = np.log(course(FRACTION) * after(FRACTION, 0.6, 0.4, power)) + 0.004 * rng.standard_normal(BINS)
        end = 110
        found = onset_above_fall(loss[:end], COUNT[:end], FRACTION[:end], 0.004**2 * 10)
        errors.append(FRACTION[found.index] - 0.6)
        assert found.low <= found.index <= found.high
    assert np.abs(np.median(errors)) < 0.015
    assert np.abs(errors).max() < 0.06
