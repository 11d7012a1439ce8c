from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaling_collapse.curves import measures
from scaling_collapse.curves.grid import GRID
from scaling_collapse.errors import CurveError
from tests.unit.curves.support import shape

SHAPE = shape(GRID)


def test_two_parallel_curves_by_hand():
    # l differs by 1% everywhere: std of two values (n - 1) is 1%/sqrt(2).
    l_RG = np.array([SHAPE, SHAPE + 0.01])
    assert measures.cross_run_std(l_RG) == pytest.approx(np.full(len(GRID), 1 / np.sqrt(2)))
    assert measures.spread(l_RG) == pytest.approx(1 / np.sqrt(2))
    assert measures.root_mean_square_spread(l_RG) == pytest.approx(1 / np.sqrt(2))
    assert measures.max_minus_min(l_RG) == pytest.approx(1.0)
    assert measures.spread_of_range(l_RG) == pytest.approx(1 / np.sqrt(2) / (SHAPE[0] - 1 + 0.005))


def test_mean_and_root_mean_square_by_hand():
    # Differences of 2% on half of the grid, 0 on the other.
    l_RG = np.array([[1.0, 1.0, 1.0, 1.0], [1.02, 1.02, 1.0, 1.0]])
    std = 2 / np.sqrt(2)
    assert measures.spread(l_RG) == pytest.approx(std / 2)
    assert measures.root_mean_square_spread(l_RG) == pytest.approx(std / np.sqrt(2))


@given(st.integers(2, 6), st.integers(0, 1000))
def test_root_mean_square_is_never_below_the_mean(runs, seed):
    l_RG = 1 + np.random.default_rng(seed).uniform(0, 0.1, (runs, 9))
    assert measures.root_mean_square_spread(l_RG) >= measures.spread(l_RG)


def test_equal_curves_have_no_spread():
    assert measures.spread(np.array([SHAPE, SHAPE, SHAPE])) == 0
    assert measures.collapse_deviation(np.array([SHAPE, SHAPE])) == pytest.approx(np.zeros(len(GRID)))


def test_deviation_and_seed_noise_by_hand():
    l_RG = np.array([[1.1, 1.0], [1.3, 1.0]])
    assert measures.collapse_deviation(l_RG) == pytest.approx([0.2 / np.sqrt(2) / 1.2, 0])
    # Reducible losses 1 and 1.2 above an irreducible 2.
    assert measures.seed_noise(np.array([[3.0], [3.2]]), offset=2.0) == pytest.approx([0.2 / np.sqrt(2) / 1.1])


def test_seeds_of_several_recipes_pool_by_degrees_of_freedom():
    two, three = np.array([[1.0], [1.02]]), np.array([[1.0], [1.0], [1.03]])
    expected = np.sqrt((1 * two.var(ddof=1) + 2 * three.var(ddof=1)) / 3) * 100
    assert measures.pooled_seed_std([two, three]) == pytest.approx([expected])


def test_collapse_below_the_noise_is_seen():
    # Supercollapse (Qiu et al.): normalising by each run's own end removes a common factor, so Delta < sigma.
    factor = np.array([[0.97], [1.0], [1.03]])
    losses = 3 * factor * SHAPE
    assert (measures.collapse_deviation(losses / losses[:, -1:]) < measures.seed_noise(losses)).all()


@pytest.mark.parametrize("bad", [np.ones((1, 5)), np.ones(5), np.array([[1.0, np.nan], [1.0, 1.0]])])
def test_bad_input(bad):
    with pytest.raises(CurveError, match="collapse: "):
        measures.spread(bad)


def test_what_has_no_answer():
    with pytest.raises(CurveError, match="no range"):
        measures.spread_of_range(np.array([[1.0, 1.1], [1.0, 1.2]]))
    with pytest.raises(CurveError, match="not below all losses"):
        measures.seed_noise(np.array([[3.0], [3.2]]), offset=3.0)
    with pytest.raises(CurveError, match="no two runs"):
        measures.pooled_seed_std([])
