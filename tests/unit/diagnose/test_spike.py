from __future__ import annotations

import numpy as np
import pytest

from scaling_collapse.diagnose.spike import spikes

BINS = 100
FRACTION, COUNT, FLOOR = np.arange(1, BINS + 1) / BINS, np.ones(BINS), np.zeros(BINS)


def noisy(truth, noise=0.001, seed=0):
    return truth + noise * np.random.default_rng(seed).standard_normal(BINS)


FALL = np.log(2 + 0.8 * FRACTION**-0.3)
WSD = np.where(FRACTION < 0.6, FALL, FALL[59] - 0.4 * (FRACTION - FRACTION[59]))


@pytest.mark.parametrize("truth", [np.zeros(BINS), FALL, WSD])
@pytest.mark.parametrize("seed", range(5))
def test_healthy_curves_have_none_not_even_where_the_rate_begins_to_fall(truth, seed):
    assert len(spikes(noisy(truth, seed=seed), COUNT, FRACTION, FLOOR, 0.001, BINS)) == 0


@pytest.mark.parametrize("truth", [np.zeros(BINS), FALL])
def test_a_single_bin_far_out_is_found(truth):
    values = noisy(truth)
    values[50] += 0.012
    assert spikes(values, COUNT, FRACTION, FLOOR, 0.001, BINS).tolist() == [50]


def test_a_step_is_no_spike_and_a_downward_bin_neither():
    values = noisy(np.zeros(BINS))
    values[50:] += 0.02
    values[70] -= 0.02
    assert len(spikes(values, COUNT, FRACTION, FLOOR, 0.001, BINS)) == 0


def test_rounding_is_no_spike():
    values = np.log(np.where(np.arange(BINS) % 11 == 0, 2e-4, 1e-4))
    floor = np.full(BINS, (1e-4 / 1e-4) ** 2 / 12)
    assert len(spikes(values, COUNT, FRACTION, floor, 0.01, BINS)) == 0


def test_few_bins_are_not_judged():
    assert len(spikes(np.array([1.0, 5.0, 1.0]), COUNT[:3], FRACTION[:3], FLOOR[:3], 0.1, 3)) == 0
