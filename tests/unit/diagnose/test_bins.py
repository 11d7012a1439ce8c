from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaling_collapse.diagnose.bins import BINS, MOST_BINS, Bins


def filled(total, steps, values=None):
    bins = Bins(total)
    for step, value in zip(steps, steps if values is None else values, strict=True):
        bins.add(float(step), float(value), float(value))
    return bins


@given(st.integers(1, 1500), st.booleans())
@settings(max_examples=40, deadline=None)
def test_no_point_is_lost_and_means_are_means(points, known):
    values = np.random.default_rng(points).standard_normal(points)
    bins = filled(points if known else None, range(1, points + 1), values)
    bins.close()
    count, value, step = bins.array("count"), bins.array("value"), bins.array("step")
    assert count.sum() == points
    assert count @ value == pytest.approx(values.sum(), abs=1e-9)
    assert count @ step == pytest.approx(points * (points + 1) / 2)
    assert len(bins) <= (BINS if known else MOST_BINS)
    assert (np.diff(bins.array("last_step")) > 0).all()


def test_a_run_of_known_length_has_a_bin_for_each_half_percent():
    bins = filled(4000, range(1, 4001))
    assert len(bins) == BINS
    assert (bins.array("count") == 20).all()
    assert bins.array("last_step")[0] == 20
    assert bins.fraction[-1] == pytest.approx(1, abs=0.003)


def test_a_run_that_is_longer_than_was_said_stays_small():
    bins = filled(100, range(1, 12_801))  # seven doublings
    assert len(bins) <= 8 * BINS
    assert bins.array("last_step")[-1] > 12_700


def test_sparse_points_have_a_bin_each_and_close_it_at_once():
    bins = Bins(1000)
    assert [bins.add(float(step), 1.0, 1.0) for step in range(50, 1001, 50)] == [1] * 20


def test_widths_double_where_the_length_is_not_known():
    bins = filled(None, range(1, 2049))
    assert bins.width == 16
    assert (bins.array("count") == 16).all()


def test_going_back_forgets_what_came_later():
    bins = filled(1000, range(1, 701))
    bins.rewind(500)
    assert bins.array("last_step").max() < 500
    for step in range(500, 701):
        bins.add(float(step), 0.0, 0.0)
    again = filled(1000, range(1, 701))
    assert (bins.array("last_step")[:-1] == again.array("last_step")[: len(bins) - 1]).all()


def test_the_state_survives_json():
    bins = filled(1000, range(1, 333))
    assert Bins(**json.loads(json.dumps(bins.state()))) == bins
