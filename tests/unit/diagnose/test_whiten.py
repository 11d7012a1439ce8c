from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from scaling_collapse.diagnose.noise import noise_variance
from scaling_collapse.diagnose.whiten import WANDER, excess, whitened
from scaling_collapse.diagnose.windows import FIRST_BINS, LENGTHS

BINS, RUNS = 150, 400
FRACTION, COUNT = 0.25 + 0.75 * np.arange(1, BINS + 1) / BINS, np.full(BINS, 10.0)


def residuals(noise, wander=WANDER, seed=0):
    rng = np.random.default_rng(seed)
    walk = np.cumsum(rng.standard_normal((RUNS, BINS)), axis=1) * wander * np.sqrt(0.75 / BINS)
    return walk + noise / np.sqrt(10) * rng.standard_normal((RUNS, BINS))


@pytest.mark.parametrize("noise", [0.003, 0.014, 0.04])
def test_healthy_errors_are_independent_and_standard_normal(noise):
    values = residuals(noise)
    errors = whitened(values, COUNT, FRACTION, *noise_variance(values, COUNT, FRACTION))[:, 20:]
    assert errors.mean() == pytest.approx(0, abs=0.03)
    assert errors.std() == pytest.approx(1, abs=0.1)
    for lag in (1, 2, 5, 20):
        assert np.mean(errors[:, lag:] * errors[:, :-lag]) == pytest.approx(0, abs=0.04), lag
    assert stats.kurtosis(errors.ravel()) == pytest.approx(0, abs=0.3)


def test_autocorrelation_of_the_noise_is_taken_out():
    noise = np.random.default_rng(1).standard_normal((RUNS, BINS))
    for i in range(1, BINS):
        noise[:, i] = 0.6 * noise[:, i - 1] + 0.8 * noise[:, i]
    values = 0.01 * noise
    errors = whitened(values, COUNT, FRACTION, *noise_variance(values, COUNT, FRACTION))[:, 50:]
    assert np.mean(errors[:, 1:] * errors[:, :-1]) == pytest.approx(0, abs=0.12)


def test_many_runs_at_once_are_the_runs_one_by_one():
    values = residuals(0.014)[:5]
    noise, freedom = noise_variance(values, COUNT, FRACTION)
    together = whitened(values, COUNT, FRACTION, noise, freedom)
    for i in range(5):
        alone = whitened(values[i], COUNT, FRACTION, noise[i], freedom)
        assert alone == pytest.approx(together[i])


def test_the_level_does_not_matter():
    values = residuals(0.014)[:20]
    found = [whitened(v, COUNT, FRACTION, *noise_variance(v, COUNT, FRACTION)) for v in (values, values + 3.0)]
    assert found[0] == pytest.approx(found[1], abs=1e-6)


def test_a_drift_shifts_the_mean_as_theory_says():
    """In the steady state of the filter a ramp g per bin gives errors of mean g/(gain*sd of prediction)."""
    noise, wander, slope = 1e-3, 0.02, 2e-3
    count, ramp = np.ones(BINS), np.arange(BINS) * slope
    values = np.cumsum(np.random.default_rng(2).standard_normal((RUNS, BINS)), axis=1) * wander * np.sqrt(0.75 / BINS)
    values += np.sqrt(noise) * 0.1 * np.random.default_rng(3).standard_normal((RUNS, BINS))
    known = np.full((RUNS, BINS), noise / 100)
    freedom = np.full(BINS, 1e6)
    with_ramp, without = (whitened(v, count, FRACTION, known, freedom, wander) for v in (values + ramp, values))
    step = wander**2 * 0.75 / BINS
    variance = step / 2 + np.sqrt(step**2 / 4 + step * noise / 100)
    gain = variance / (variance + noise / 100)
    expected = slope / gain / np.sqrt(variance + noise / 100)
    shift = (with_ramp - without)[:, 60:].mean()
    assert shift == pytest.approx(expected, rel=0.15)


def test_windows_are_searched_as_a_plain_loop_would():
    errors = np.random.default_rng(4).standard_normal(90)
    count = np.random.default_rng(5).integers(1, 4, 90).astype(float)
    for end in (10, 40, 89):
        values = [
            errors[end + 1 - length : end + 1].sum() / np.sqrt(length)
            for length in LENGTHS
            if end + 1 - length >= FIRST_BINS and count[end + 1 - length : end + 1].sum() >= 3
        ]
        assert excess(errors, count, np.array([end]))[0] == pytest.approx(max(values))
    assert excess(errors, count, np.array([FIRST_BINS - 1]))[0] == -np.inf
