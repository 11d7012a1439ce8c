from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaling_collapse.curves.theory import constant_rate_tpp, noisy_quadratic
from scaling_collapse.errors import CurveError

T = np.linspace(0.01, 1, 100)


def test_noisy_quadratic_is_the_solution_of_its_recurrence():
    # One coordinate, x <- (1 - a)x + noise: E[x^2] goes geometrically from its start to the level of the noise.
    tau, ratio, steps = 0.4, 30.0, 20000
    shrink = np.exp(-2 / (tau * steps))
    level = ratio
    course = []
    for _ in range(steps):
        level = shrink * level + (1 - shrink) * 1.0
        course.append(level)
    t_hat = np.arange(1, steps + 1) / steps
    assert np.array(course) / course[-1] == pytest.approx(noisy_quadratic(t_hat, tau, ratio), rel=1e-6)


@given(tau=st.floats(0.02, 2), ratio=st.floats(1.5, 100))
def test_noisy_quadratic_falls_to_one(tau, ratio):
    l_T = noisy_quadratic(T, tau, ratio)
    assert l_T[-1] == pytest.approx(1)
    assert (np.diff(l_T) <= 1e-12).all()


def test_smaller_tau_is_lower_where_curves_are_compared():
    late = T[T >= 0.2]
    assert (np.diff([noisy_quadratic(late, tau, 30) for tau in (0.05, 0.1, 0.2, 0.4)], axis=0) >= 0).all()


@given(tpp=st.floats(1, 2000), size=st.floats(1e5, 1e9))
def test_tpp_curve_is_the_power_law_of_size_and_tokens(tpp, size):
    # L = A*N^-a + B*(tD)^-a with B/A such that the compute-optimum is at r: equal parts at TPP = r.
    alpha, optimal = 0.35, 20.0

    def loss(t):
        return size**-alpha + optimal**alpha * (t * tpp * size) ** -alpha

    assert constant_rate_tpp(T, tpp, alpha, optimal) == pytest.approx(loss(T) / loss(1.0))


def test_impossible_values():
    with pytest.raises(CurveError, match="tau is 0"):
        noisy_quadratic(T, 0, 30)
    with pytest.raises(CurveError, match="t_hat is 0"):
        constant_rate_tpp(np.array([0.0, 1.0]), 20, 0.35, 20)
