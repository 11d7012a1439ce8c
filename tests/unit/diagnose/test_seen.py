from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaling_collapse.diagnose.reference import Reference, reference_of
from scaling_collapse.diagnose.seen import ALIGN_TO, seen, walk_variance
from tests.unit.curves.support import curve, shape
from tests.unit.diagnose.support import STEPS, T, after, noisy

RNG = np.random.default_rng(3)
SMOOTH = 3 * shape(T)
REFERENCE = reference_of(curve(2 * shape(T), "other"))


def test_bins_are_the_mean_losses_of_half_a_percent_of_training():
    found = seen(curve(SMOOTH, "a"))
    assert len(found.step) == 200
    assert found.step[:2].tolist() == [5.5, 15.5]
    assert found.loss == pytest.approx(np.exp(np.log(SMOOTH).reshape(200, 10).mean(axis=1)))
    assert np.isnan(found.residual).all()
    assert np.isnan(found.expected).all()


def test_a_run_like_its_reference_has_no_residual_whatever_its_level():
    found = seen(curve(SMOOTH, "a"), REFERENCE)
    late = found.fraction > 0.26
    assert np.abs(found.residual[late]).max() < 0.02  # what interpolation of bins leaves
    assert found.expected[late] == pytest.approx(found.loss[late], rel=2e-4)
    assert np.isnan(found.residual[found.fraction < 0.24]).all()


def test_a_fault_has_its_size_in_percent_also_in_the_middle_of_the_aligned_part():
    for begin in (0.3, 0.7):
        faulty = curve(SMOOTH * after(T, begin, 0.05, 0.0001), "a")  # all but a step
        found = seen(faulty, REFERENCE, onset=begin)
        assert found.residual[-1] == pytest.approx(100 * np.log(1.05), abs=0.05)
    late = seen(curve(SMOOTH * after(T, 0.3, 0.05, 0.0001), "a"), REFERENCE)
    assert late.residual[-1] < 2  # without its onset the level holds part of the fault


def test_a_wild_point_is_seen_though_the_alarm_clips_it():
    loss = noisy(RNG, SMOOTH, walk=0)
    loss[1500] *= 3
    found = seen(curve(loss, "a"), REFERENCE)
    assert found.residual[150] == pytest.approx(100 * np.log(3) / 10, abs=3)


def test_unfinished_and_sparse_runs_have_what_there_is():
    half = replace(curve(SMOOTH[: STEPS // 2], "a"), t_hat=T[: STEPS // 2])
    part = seen(half, REFERENCE)
    assert part.fraction[-1] == pytest.approx(0.5, abs=0.01)
    assert np.isfinite(part.residual).sum() == 50
    assert np.nanmax(np.abs(part.residual)) < 0.02
    sparse = seen(curve(SMOOTH[::200], "a"), REFERENCE)
    assert len(sparse.loss) == 10


def test_the_band_is_that_of_the_walk():
    t = np.linspace(0.25, 1.0, 200)
    walks = np.cumsum(RNG.standard_normal((4000, 200)) * np.sqrt(np.diff(t, prepend=0.25)), axis=1)
    walks -= walks[:, t <= ALIGN_TO].mean(axis=1, keepdims=True)
    assert walk_variance(t, 0.25, ALIGN_TO) == pytest.approx(walks.var(axis=0), rel=0.12, abs=0.003)
    flat = Reference(T, np.log(SMOOTH), "flat", wander=0.0)
    assert np.nanmax(seen(curve(SMOOTH, "a"), flat).healthy) == 0


@given(st.floats(0.0, 0.4), st.floats(0.05, 0.5), st.floats(0.0, 1.0))
def test_the_walk_is_least_in_the_middle_of_what_is_aligned(start, width, t):
    middle = walk_variance(np.array([start + width / 2]), start, start + width)[0]
    assert middle == pytest.approx(width / 12)
    assert walk_variance(np.array([t]), start, start + width)[0] >= middle - 1e-12
