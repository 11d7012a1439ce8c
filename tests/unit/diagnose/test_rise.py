from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaling_collapse.config.recipe import Schedule
from scaling_collapse.diagnose.noise import as_normal
from scaling_collapse.diagnose.rise import rise
from scaling_collapse.diagnose.windows import LENGTHS
from scaling_collapse.optim.schedules import learning_rates

BINS = 120
FRACTION, COUNT, ENDS = np.arange(1, BINS + 1) / BINS, np.full(BINS, 5.0), np.arange(BINS)
KNOWN = (np.full(BINS, 0.01), np.full(BINS, 30.0))


def test_windows_are_compared_as_a_plain_loop_would():
    rng = np.random.default_rng(0)
    values, count = rng.standard_normal(BINS), rng.integers(3, 9, BINS).astype(float)
    wander = 0.3
    for end in (20, 70, 119):
        best = -np.inf
        for after in LENGTHS:
            for before in LENGTHS[LENGTHS >= 4]:
                if after + before > end + 1:
                    continue
                late, early = slice(end + 1 - after, end + 1), slice(end + 1 - after - before, end + 1 - after)
                difference = np.average(values[late], weights=count[late]) - np.average(
                    values[early], weights=count[early]
                )
                span = FRACTION[end] - (FRACTION[early.start - 1] if early.start else FRACTION[0])
                variance = 0.01 * (1 / count[late].sum() + 1 / count[early].sum()) + wander**2 * span / 3
                best = max(best, difference / np.sqrt(variance))
        found = rise(values, count, FRACTION, np.array([end]), wander, known=KNOWN)[0]
        assert found == pytest.approx(float(as_normal(np.array(best), 30.0)))


@given(st.integers(0, 10_000), st.floats(0, 3))
@settings(max_examples=25, deadline=None)
def test_a_fall_on_top_of_any_loss_never_makes_an_alarm_likelier(seed, steepness):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(BINS)
    fall = -np.cumsum(rng.exponential(steepness / BINS, BINS))
    plain, falling = (rise(v, COUNT, FRACTION, ENDS, 0.01, known=KNOWN) for v in (values, values + fall))
    assert (falling <= plain + 1e-9).all()


@pytest.mark.parametrize("kind", ["linear_to_zero", "linear_10x", "constant", "cosine", "wsd"])
@pytest.mark.parametrize("noise", [0.0, 0.004])
def test_no_schedule_and_no_warm_up_looks_like_a_rise(kind, noise):
    rate = learning_rates(Schedule(kind=kind), BINS, 1)
    progress = np.cumsum(rate) / rate.sum()
    values = np.log(2 + (progress + 0.01) ** -0.3 + 0.3 * np.minimum.accumulate(np.where(FRACTION < 0.1, 1, rate)))
    values += noise / np.sqrt(5) * np.random.default_rng(1).standard_normal(BINS)
    assert rise(values, COUNT, FRACTION, ENDS, 0.0035).max() < 3.4  # of 1 healthy run in 100, for 128 bins


def test_a_rise_is_seen_within_few_bins():
    values = 0.004 / np.sqrt(5) * np.random.default_rng(2).standard_normal(BINS)
    values[80:] += 0.03
    found = rise(values, COUNT, FRACTION, ENDS, 0.0035)
    assert found[:80].max() < 3.4
    assert found[80:83].max() > 4


def test_too_few_bins_say_nothing():
    assert rise(np.zeros(3), np.ones(3), FRACTION[:3], np.arange(3), 0.0).tolist() == [-np.inf] * 3
