from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from scaling_collapse.diagnose.noise import noise_variance
from scaling_collapse.diagnose.rise import rise
from scaling_collapse.diagnose.thresholds import BINS_OF_RUN, RATES, TABLES, threshold
from scaling_collapse.diagnose.whiten import WANDER, excess, whitened
from scaling_collapse.errors import ConfigError


@pytest.mark.parametrize("test", ["residual", "rise"])
def test_thresholds_meet_the_table_and_are_ordered(test):
    for bins, row in zip(BINS_OF_RUN, TABLES[test], strict=True):
        assert [threshold(test, bins, rate) for rate in RATES] == pytest.approx(list(row))
    for rate in (0.03, 0.004, 0.0004):
        rising = [threshold(test, bins, rate) for bins in (8, 11, 40, 150, 256, 400)]
        assert (np.diff(rising) > 0).all()
    assert threshold(test, 100, 0.0001) > threshold(test, 100, 0.001) > threshold(test, 100, 0.01)
    assert threshold(test, 2, 0.01) == threshold(test, 8, 0.01)


@pytest.mark.parametrize("rate", [0.2, 0.0, 1e-6, np.nan])
def test_rates_that_the_tables_cannot_hold_are_refused(rate):
    with pytest.raises(ConfigError, match="false alarms a run"):
        threshold("rise", 100, rate)


@pytest.mark.parametrize("bins", [48, 180])
def test_healthy_runs_alarm_as_often_as_stated(bins):
    """1,000 runs at 5%; numbers outside the bounds come once in 1,000 tries. In full: benchmarks/alarm_rate.py."""
    rng, runs, rate = np.random.default_rng(7), 1000, 0.05
    fraction, count, ends = np.arange(1, bins + 1) / bins, np.full(bins, 10.0), np.arange(bins)
    walk = np.cumsum(rng.standard_normal((runs, bins)), axis=1) * WANDER / np.sqrt(bins)
    noise = rng.standard_normal((runs, bins)) / np.sqrt(10)
    low, high = binom.interval(0.999, runs, rate)
    values = walk + 0.01 * noise
    errors = whitened(values, count, fraction, *noise_variance(values, count, fraction))
    assert low <= np.sum(excess(errors, count, ends).max(axis=1) > threshold("residual", bins, rate)) <= high
    flat = walk + 0.03 * noise
    rises = np.concatenate([rise(part, count, fraction, ends, WANDER).max(axis=1) for part in np.array_split(flat, 10)])
    assert low <= np.sum(rises > threshold("rise", bins, rate)) <= high
