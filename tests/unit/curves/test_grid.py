from __future__ import annotations

import numpy as np
import pytest

from scaling_collapse.curves.grid import GRID, to_grid
from scaling_collapse.errors import CurveError


def test_interpolation_is_exact_on_lines():
    t_hat = np.sort(np.random.default_rng(0).uniform(0.01, 0.99, 50))
    t_hat[[0, -1]] = 0.005, 1.0
    assert to_grid(t_hat, 3 - t_hat) == pytest.approx(3 - GRID)


def test_grid_is_the_part_that_the_paper_compares():
    assert GRID[0] == 0.2
    assert GRID[-1] == 1.0


def test_nothing_is_extrapolated():
    t_hat = np.linspace(0.3, 0.9, 7)
    with pytest.raises(CurveError, match=r"covers t_hat 0\.3 to 0\.9"):
        to_grid(t_hat, t_hat)
    inside = to_grid(t_hat, t_hat, outside="nan")
    assert np.isnan(inside[(GRID < 0.3 - 1e-6) | (GRID > 0.9 + 1e-6)]).all()
    assert np.isfinite(inside[(GRID > 0.3) & (GRID < 0.9)]).all()


def test_rounding_of_the_last_point_is_no_extrapolation():
    t_hat = np.linspace(0.1, 1 - 1e-9, 10)
    assert np.isfinite(to_grid(t_hat, t_hat)).all()


def test_points_out_of_order():
    with pytest.raises(CurveError, match="do not increase"):
        to_grid(np.array([0.1, 0.5, 0.5, 1.0]), np.ones(4))
