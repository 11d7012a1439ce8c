from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaling_collapse.config.recipe import Schedule
from scaling_collapse.errors import CurveError
from scaling_collapse.surrogate.form import (
    BOTH_LAWS,
    DECAY_ALONE,
    FREE_DECAY,
    PAPER,
    TABLE_12,
    Form,
    Surrogate,
    log_decay,
    shape,
    slopes,
)
from scaling_collapse.surrogate.schedule import RateCurve, rates_of
from tests.unit.surrogate.support import TRUTH, equation_4, linear_rate

T = np.linspace(0.005, 1, 200)
LINEAR = RateCurve(T, linear_rate(T))
SMALL = Surrogate(**TRUTH)
positive = st.floats(0.01, 3)


def test_value_by_hand():
    """tau .25, TPP 16: b = .1*.25^-.5 = .2, q = 2*16^-.25 = 1; at t = .5 eta is .5, in the end 0."""
    rates = RateCurve(np.array([0.1, 1.0]), np.array([0.9, 0.0]))
    by_hand = ((1.001 / 0.501) ** 0.05 + 0.2 * (0.5 + 0.1)) / (1 + 0.2 * 0.1)
    l_hat = Surrogate(b_c=0.1, b_e=-0.5, q_c=2, q_e=-0.25).evaluate(np.array([0.5]), 0.25, 16, rates)
    assert l_hat == pytest.approx([by_hand])


@given(tau=positive, tpp=st.floats(1, 2000), b_tpp=st.floats(-0.5, 0.5), q_tau=st.floats(-0.5, 0.5))
@settings(max_examples=30)
def test_it_is_equation_4(tau, tpp, b_tpp, q_tau):
    both = Surrogate(**TRUTH, b_tpp=b_tpp, q_tau=q_tau, m=0.07, e2=0.2)
    b, q = 0.12 * tau**-0.29 * tpp**b_tpp, 3.1 * tpp**-0.46 * tau**q_tau
    assert both.evaluate(T, tau, tpp, LINEAR) == pytest.approx(equation_4(T, linear_rate(T), b, q, 0.07, 0.2))


@given(tau=positive, tpp=st.floats(1, 2000), kind=st.sampled_from(["linear_to_zero", "linear_10x", "constant"]))
@settings(max_examples=30)
def test_it_ends_at_one_and_falls_after_warm_up(tau, tpp, kind):
    rates = rates_of(Schedule(kind=kind))
    l_hat = SMALL.evaluate(np.linspace(0.1, 1, 300), tau, tpp, rates)
    assert l_hat[-1] == pytest.approx(1)
    assert (np.diff(l_hat) < 0).all()


def test_a_part_is_a_part_of_the_whole():
    """The end of the schedule decides the scale, also when the asked points do not reach it."""
    assert SMALL.evaluate(T[:50], 0.2, 20, LINEAR) == pytest.approx(SMALL.evaluate(T, 0.2, 20, LINEAR)[:50])


def test_many_curves_at_once_are_each_by_itself():
    tau, tpp = np.array([0.05, 0.2, 1.0]), np.array([20.0, 80.0, 320.0])
    eta = np.tile(linear_rate(T), (3, 1))
    together = shape(T, eta, eta[:, -1], SMALL.b(tau, tpp), SMALL.q(tau, tpp), SMALL.m, SMALL.e2)
    for row, one_tau, one_tpp in zip(together, tau, tpp, strict=True):
        assert row == pytest.approx(SMALL.evaluate(T, one_tau, one_tpp, LINEAR))


def test_without_the_schedule_term_only_the_decay_is_left():
    assert DECAY_ALONE.base.evaluate(T, 0.2, 20, LINEAR) == pytest.approx((1.001 / (T + 0.001)) ** 0.05)


def test_constant_rate_leaves_the_decay_with_a_smaller_weight():
    flat = RateCurve(np.array([1.0]), np.array([1.0]))
    l_hat, b = SMALL.evaluate(T, 0.2, 20, flat), float(SMALL.b(0.2, 20)) * 1.1 ** float(SMALL.q(0.2, 20))
    assert l_hat == pytest.approx(((1.001 / (T + 0.001)) ** 0.05 + b) / (1 + b))


@given(b=st.floats(0.01, 2), q=st.floats(0.05, 4), m=st.floats(0.01, 0.3), e2=st.floats(0.02, 0.5))
@settings(max_examples=30)
def test_derivatives(b, q, m, e2):
    """Against central differences of the logarithms."""
    eta, end = linear_rate(T)[None, :], linear_rate(T)[-1:]
    at = {"b": b, "q": q, "m": m, "e2": e2}

    def l_hat(**changed: float) -> np.ndarray:
        v = at | changed
        return shape(T, eta, end, np.array([v["b"]]), np.array([v["q"]]), v["m"], v["e2"])

    logs = np.log(eta + e2), np.log(end + e2)
    value, by = slopes(log_decay(T), *logs, np.array([b]), np.array([q]), m, e2, tuple(at))
    assert value == pytest.approx(l_hat())
    for name, here in at.items():
        step = 1e-5
        numeric = (l_hat(**{name: here * math.exp(step)}) - l_hat(**{name: here * math.exp(-step)})) / (2 * step)
        assert by[name] == pytest.approx(numeric, abs=1e-7, rel=1e-5)


def test_absurd_constants_give_large_numbers_not_infinity():
    assert np.isfinite(Surrogate(b_c=1, q_c=1e6).evaluate(T, 0.2, 20, RateCurve(T, np.ones(200)))).all()


@pytest.mark.parametrize(
    ("tau", "tpp", "message"),
    [(0, 20, "tau is 0"), (np.nan, 20, "tau is nan"), (0.2, 0, "TPP is 0"), (0.2, -1, "TPP is -1")],
)
def test_impossible_settings_are_errors(tau, tpp, message):
    with pytest.raises(CurveError, match=message):
        SMALL.evaluate(T, tau, tpp, LINEAR)


@pytest.mark.parametrize("t_hat", [[], [0.0, 0.5], [0.5, 1.1], [np.nan]])
def test_points_outside_training_are_errors(t_hat):
    with pytest.raises(CurveError, match="fractions of training above 0 and up to 1"):
        SMALL.evaluate(np.array(t_hat), 0.2, 20, LINEAR)


def test_forms_of_table_12_have_its_numbers_of_constants():
    assert [len(form.fitted) for form in TABLE_12.values()] == [2, 3, 3, 4, 6]
    assert set(PAPER.fitted) < set(BOTH_LAWS.fitted)
    assert set(FREE_DECAY.fitted) - set(PAPER.fitted) == {"m", "e2"}
    assert (PAPER.base.m, PAPER.base.e2) == (0.05, 0.1)  # section 2


@pytest.mark.parametrize("fitted", [("b_c", "e1"), ("b_c", "b_c")])
def test_unknown_or_repeated_constants_are_errors(fitted):
    with pytest.raises(CurveError, match="known: b_c, b_e"):
        Form(fitted)
