from __future__ import annotations

import numpy as np
import pytest

from scaling_collapse.diagnose.reference import ALIGN_FROM, Reference
from scaling_collapse.diagnose.residual import ResidualTest, residual_series
from scaling_collapse.diagnose.stream import Stream
from tests.unit.diagnose.support import STEPS, T, after, course, noisy


def series(loss, every=1):
    stream = Stream.of(STEPS)
    for step in range(every, STEPS + 1, every):
        stream.add(float(step), float(loss[step - 1]))
    return stream.series()


def test_the_residual_is_the_planted_fault_plus_a_level():
    fault = after(T, 0.6, 0.05)
    late, found = residual_series(series(5 * course() * fault), Reference(T, np.log(course()), "a"))
    assert late.start.min() >= ALIGN_FROM
    expected = np.interp(late.fraction, T, np.log(fault)) + np.log(5)
    assert found == pytest.approx(expected, abs=2e-4)


def test_noise_of_shared_batches_cancels():
    batches = 1 + 0.04 * np.random.default_rng(0).standard_normal(STEPS)
    _, found = residual_series(series(3 * course() * batches), Reference(T, np.log(course() * batches), "a"))
    assert found.std() < 0.002  # 10 steps a bin would leave 0.013; clipped points differ


def test_sparse_curves_are_compared_at_their_points():
    sparse = Reference(T[99::100], np.log(course()[99::100]), "a")
    _, found = residual_series(series(2 * course(), every=100), sparse)
    assert found == pytest.approx(np.full(len(found), np.log(2)))


def test_what_was_whitened_before_is_kept_and_made_anew_where_bins_changed():
    _, values = residual_series(series(noisy(np.random.default_rng(1), course())), Reference(T, np.log(course()), "a"))
    count, fraction = np.full(len(values), 10.0), np.linspace(0.26, 1, len(values))
    test = ResidualTest(0.0035)
    online = [test(values[: i + 1], count[: i + 1], fraction[: i + 1]) for i in range(len(values))]
    at_once = ResidualTest(0.0035)(values, count, fraction)
    assert online[-1] == pytest.approx(at_once)
    kept = np.r_[0:40, 60 : len(values)]
    assert test(values[kept], count[kept], fraction[kept]) == pytest.approx(
        ResidualTest(0.0035)(values[kept], count[kept], fraction[kept])
    )
