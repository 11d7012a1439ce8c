from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scaling_collapse.diagnose.clip import CLIP, RunningClip


def clipped(values):
    clip = RunningClip()
    return np.array([clip(value) for value in values])


def test_one_wild_point_counts_as_a_few_deviations():
    values = 1 + 0.01 * np.random.default_rng(0).standard_normal(300)
    values[200] += 5.0
    found = clipped(values)
    assert 1 + 3 * 0.01 < found[200] < 1 + 1.5 * CLIP * 0.01
    assert np.abs(np.delete(found - values, 200)).max() < 0.01


def test_normal_noise_passes_as_it_is():
    values = np.random.default_rng(1).standard_normal(20_000)
    assert np.mean(clipped(values) != values) < 1e-3


def test_a_lasting_jump_passes_at_its_third_point():
    values = 1 + 0.01 * np.random.default_rng(2).standard_normal(300)
    values[200:] += 3.0
    found = clipped(values)
    assert (found[200:202] < values[200:202] - 2).all()
    assert (found[202:] == values[202:]).all()


def test_a_steep_smooth_fall_passes():
    values = np.log(8 * np.arange(1.0, 100.0) ** -0.2)
    assert (clipped(values) == values).all()


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=60))
@settings(max_examples=50, deadline=None)
def test_a_clipped_point_lies_between_the_point_and_those_before(values):
    clip, last = RunningClip(), []
    for value in values:
        found = clip(value)
        reached = [value, *last]
        assert min(reached) - 1e-9 <= found <= max(reached) + 1e-9 or abs(found) <= abs(value)
        last = [*last, found][-5:]
