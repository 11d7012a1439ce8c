from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from scaling_collapse.diagnose.noise import as_normal, deviations, noise_variance

RNG = np.random.default_rng(0)
FRACTION = np.arange(1, 201) / 200


@pytest.mark.parametrize("points", [1.0, 10.0])
@pytest.mark.parametrize("slope", [0.0, -5.0])
def test_the_noise_of_one_point_is_found_whatever_the_slope(points, slope):
    values = slope * FRACTION + 0.02 / np.sqrt(points) * RNG.standard_normal((500, 200))
    variance, freedom = noise_variance(values, np.full(200, points), FRACTION)
    assert np.sqrt(np.median(variance[:, -1])) == pytest.approx(0.02, rel=0.02)
    scatter = 2 / np.var(np.log(variance[:, -1]))  # var of log s^2 is 2/freedom
    assert freedom[-1] == pytest.approx(scatter, rel=0.25)


def test_uneven_distances_and_counts_do_not_matter():
    fraction = np.sort(np.random.default_rng(1).uniform(0, 1, 200))
    count = np.random.default_rng(2).integers(1, 20, 200).astype(float)
    values = 3 * fraction + RNG.standard_normal((500, 200)) / np.sqrt(count)
    assert deviations(values, count, fraction).std() == pytest.approx(1, rel=0.02)


def test_only_bins_so_far_count():
    values = RNG.standard_normal(100)
    other = values.copy()
    other[60:] *= 50
    count, fraction = np.ones(100), FRACTION[:100]
    before, after = (noise_variance(v, count, fraction)[0] for v in (values, other))
    assert (before[:60] == after[:60]).all()
    assert after[-1] > 2 * before[-1]


def test_one_jump_hardly_counts():
    values = 0.01 * RNG.standard_normal(200)
    jumped = values + np.where(FRACTION > 0.7, 0.2, 0.0)  # 20 deviations
    before, after = (np.sqrt(noise_variance(v, np.ones(200), FRACTION)[0][-1]) for v in (values, jumped))
    assert after < 1.3 * before


def test_without_bins_there_is_a_prior_and_a_floor_holds():
    variance, freedom = noise_variance(np.zeros(2), np.ones(2), FRACTION[:2])
    assert variance == pytest.approx(np.full(2, 1e-4))
    assert (freedom < 1).all()
    assert noise_variance(np.zeros(50), np.ones(50), FRACTION[:50], 0.3)[0] == pytest.approx(np.full(50, 0.3))


@pytest.mark.parametrize("freedom", [2.0, 5.0, 30.0])
def test_students_t_becomes_normal(freedom):
    for ratio in (-3.0, 0.5, 2.0, 5.0, 10.0):
        exact = stats.norm.isf(stats.t.sf(ratio, freedom)) if ratio > 0 else stats.norm.ppf(stats.t.cdf(ratio, freedom))
        assert as_normal(np.array(ratio), freedom) == pytest.approx(exact, abs=0.1)
