from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaling_collapse.errors import CurveError
from scaling_collapse.surrogate.evaluate import predicted
from scaling_collapse.surrogate.form import DECAY_ALONE, FREE_DECAY, PAPER, TABLE_12, Form, Surrogate
from scaling_collapse.surrogate.minimise import Prior, minimise
from scaling_collapse.surrogate.problem import MAE, ROBUST, Objective, Problem, problem_of
from tests.unit.surrogate.support import TRUTH, drawn_curves

CURVES = drawn_curves(7, 60, noise=0.004)
EVERYTHING = Form((*TABLE_12["b, q = PL(tau, TPP)"].fitted, "m", "e2"))
small = st.floats(-0.8, 0.8)


@given(a=small, b=small, c=small, d=small, tau=small, tpp=small, m=st.floats(0.01, 0.3), e2=st.floats(0.02, 0.5))
@settings(max_examples=30)
def test_constants_go_to_parameters_and_back(a, b, c, d, tau, tpp, m, e2):
    surrogate = Surrogate(np.exp(a), b, np.exp(c), d, tau, tpp, m, e2)
    problem = problem_of(CURVES, EVERYTHING)
    back = problem.surrogate(problem.vector(surrogate))
    assert vars(back) == pytest.approx(vars(surrogate))
    assert problem.l_and_slopes(problem.vector(surrogate))[0] == pytest.approx(predicted(surrogate, CURVES))


@pytest.mark.parametrize("objective", [Objective("mae", 1e-2), ROBUST], ids=["mae", "robust"])
@pytest.mark.parametrize("form", [*TABLE_12.values(), FREE_DECAY, EVERYTHING], ids=lambda form: "+".join(form.fitted))
def test_gradient_is_that_of_differences(form, objective):
    rng = np.random.default_rng(1)
    problem = Problem(CURVES, form, rng.uniform(0.2, 2, len(CURVES.runs)))
    at = problem.vector(Surrogate(**TRUTH)) + rng.uniform(-0.3, 0.3, len(form.fitted))
    steps = 1e-6 * np.eye(len(at))
    numeric = [
        (problem.value_and_gradient(at + h, objective)[0] - problem.value_and_gradient(at - h, objective)[0]) / 2e-6
        for h in steps
    ]
    assert problem.value_and_gradient(at, objective)[1] == pytest.approx(numeric, abs=1e-7)
    columns = [(problem.l_and_slopes(at + h)[0] - problem.l_and_slopes(at - h)[0]) / 2e-6 for h in steps]
    assert problem.jacobian(at) == pytest.approx(np.stack(columns, axis=-1), abs=1e-7)


def test_the_objective_is_the_papers():
    """Mean over curves of the mean |l_hat - l| (section 2), to the rounding of the kink."""
    problem, surrogate = problem_of(CURVES, PAPER), Surrogate(b_c=0.2, b_e=-0.1, q_c=2.0, q_e=-0.3)
    paper = np.mean([np.abs(row).mean() for row in predicted(surrogate, CURVES) - CURVES.loss])
    assert problem.value_and_gradient(problem.vector(surrogate), MAE)[0] == pytest.approx(paper, abs=1e-6)


def test_the_robust_objective_is_quadratic_below_its_scale_and_linear_above():
    for error, expected in ((1e-4, 1e-8 / (2 * 0.005)), (1.0, 1.0 - 0.005)):
        shifted = type(CURVES)(**{**vars(CURVES), "loss": predicted(Surrogate(**TRUTH), CURVES) * np.exp(-error)})
        problem = problem_of(shifted, PAPER)
        value, _ = problem.value_and_gradient(problem.vector(Surrogate(**TRUTH)), ROBUST)
        assert value == pytest.approx(expected, rel=1e-3)


def test_weights_count_runs_more_than_once():
    twice = CURVES.where(np.array([0, 0, 3]))
    weights = np.array([2, 0, 0, 1, 0, 0, 0], dtype=float)
    one, other = problem_of(twice, PAPER), problem_of(CURVES, PAPER).with_weights(weights)
    values = [p.value_and_gradient(p.vector(Surrogate(**TRUTH)), MAE)[0] for p in (one, other)]
    assert values[0] == pytest.approx(values[1])


@pytest.mark.parametrize("points", [1, 7, 20, 60, 500])
def test_thinned_curves_keep_the_end(points):
    thin = problem_of(CURVES, PAPER).thinned(points).curves
    assert thin.t_hat[-1] == 1
    assert len(thin.t_hat) <= 2 * points
    assert np.isin(thin.t_hat, CURVES.t_hat).all()


def test_without_constants_the_objective_is_known_and_nothing_moves():
    problem = problem_of(CURVES, DECAY_ALONE)
    end = minimise(problem, np.empty(0))
    assert end.parameters.shape == (0,)
    assert end.value == pytest.approx(np.abs((1.001 / (CURVES.t_hat + 0.001)) ** 0.05 - CURVES.loss).mean(), abs=1e-6)


def test_a_strong_prior_wins_and_an_infinitely_wide_one_is_none():
    problem = problem_of(CURVES, PAPER)
    start = problem.vector(Surrogate(**TRUTH))
    held = minimise(problem, start, prior=Prior(start + 0.3, np.array([0.1, np.inf, 0.1, np.inf]), 1e3))
    assert held.parameters[[0, 2]] == pytest.approx(start[[0, 2]] + 0.3, abs=1e-3)
    free, none = minimise(problem, start), minimise(problem, start, prior=Prior(start + 1, np.full(4, np.inf), 1e3))
    assert free.parameters == pytest.approx(none.parameters)


def test_a_scale_that_is_not_positive_is_an_error():
    with pytest.raises(CurveError, match="scale is 0"):
        Objective("mae", 0)
