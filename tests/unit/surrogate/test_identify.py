from __future__ import annotations

import numpy as np
import pytest

from scaling_collapse.surrogate.automatic import fit_identified
from scaling_collapse.surrogate.data import CurveSet
from scaling_collapse.surrogate.fit import fit_surrogate
from scaling_collapse.surrogate.form import BOTH_LAWS, DECAY_ALONE, PAPER, Surrogate
from scaling_collapse.surrogate.identify import identifiability
from scaling_collapse.surrogate.information import information
from scaling_collapse.surrogate.problem import problem_of
from tests.unit.surrogate.support import TRUTH, drawn_curves

PUBLISHED = Surrogate(b_c=0.1, b_e=-0.35, q_c=2.5, q_e=-0.4)
TAU = np.geomspace(0.05, 0.8, 20)


def along_a_line(noise: float = 0.004) -> CurveSet:
    """tau = 4/TPP in all runs, as with one weight decay and one batch for all."""
    return drawn_curves(tau=TAU, tpp=4 / TAU, noise=noise)


def test_curves_that_vary_in_both_fix_everything():
    fit, found = fit_identified(drawn_curves(30, 81, noise=0.004), PUBLISHED)
    assert found.named("fitted") == PAPER.fitted
    assert not found.confounded
    assert fit.prior is None
    assert fit.warnings == ()


def test_confounded_curves_are_said_with_their_correlation():
    fit, found = fit_identified(along_a_line(), PUBLISHED)
    assert found.log_correlation == pytest.approx(-1)
    assert found.slope == pytest.approx(-1)
    first, second, *rest = found.lines()
    assert first == "correlation of log tau and log TPP over runs: -1.00"
    assert "tau ~ TPP^-1.00" in second
    assert len(rest) == 4
    assert second in fit.warnings


def test_laws_of_both_variables_cannot_be_told_apart_along_a_line():
    """b_e and b_tpp can trade freely there: the information is singular, twice, and the prior has to decide."""
    curves = along_a_line()
    found = identifiability(curves, fit_surrogate(curves, BOTH_LAWS))
    assert found.information[3] > 1
    assert max(found.information[4:]) < 1e-3
    assert set(found.named("regularised")) == {"b_e", "b_tpp", "q_e", "q_tau"}
    fit, _ = fit_identified(curves, PUBLISHED, BOTH_LAWS)
    centre = fit.surrogate
    # What a line does tell is the exponent along it; the rest is as near to the published values as that allows.
    assert centre.b_e - centre.b_tpp == pytest.approx(TRUTH["b_e"], abs=0.05)
    assert centre.b_e - PUBLISHED.b_e == pytest.approx(PUBLISHED.b_tpp - centre.b_tpp, abs=0.02)


@pytest.mark.parametrize(("name", "spread"), [("tau", {"tau": np.full(12, 0.2)}), ("tpp", {"tpp": np.full(12, 20.0)})])
def test_an_exponent_whose_variable_does_not_vary_is_fixed_at_the_published_value(name, spread):
    exponent = {"tau": "b_e", "tpp": "q_e"}[name]
    fit, found = fit_identified(drawn_curves(12, 81, noise=0.004, **spread), PUBLISHED)
    assert found.named("fixed") == (exponent,)
    assert np.isnan(found.log_correlation)
    assert getattr(fit.surrogate, exponent) == getattr(PUBLISHED, exponent)
    assert f"{exponent} fixed: {name} varies by 0.0% only over runs" in fit.warnings
    assert fit.mae_percent < 0.5


def test_rounding_of_one_tau_is_no_correlation():
    rounded = drawn_curves(12, 41, noise=0.004, tau=0.3 * (1 + 1e-6 * np.arange(12)), tpp=np.geomspace(20, 1280, 12))
    found = identifiability(rounded, fit_surrogate(rounded))
    assert np.isnan(found.log_correlation)
    assert not found.confounded


def test_a_form_without_constants_has_no_verdicts():
    fit, found = fit_identified(drawn_curves(5, 41), PUBLISHED, DECAY_ALONE)
    assert found.constants == found.information == ()
    assert fit.form == DECAY_ALONE


def test_an_exponent_that_hardly_shows_is_regularised():
    """TPP from 20 to 24 under 1% of noise: the free fit wanders, the regularised one stays with the published value."""
    curves = drawn_curves(20, 81, tpp=np.linspace(20, 24, 20), noise=0.01, seed=2)
    fit, found = fit_identified(curves, PUBLISHED)
    assert "q_e" in found.named("regularised")
    assert any(warning.startswith("q_e regularised: standard error") for warning in fit.warnings)
    free = fit_surrogate(curves)
    assert abs(fit.surrogate.q_e - PUBLISHED.q_e) < abs(free.surrogate.q_e - PUBLISHED.q_e)


def test_without_a_schedule_effect_the_schedule_term_is_fixed():
    """Constant rates: nothing decays, so q is not in the data."""
    curves = drawn_curves(12, 41, noise=0.002)
    flat = CurveSet(
        curves.runs,
        curves.sizes,
        curves.tau,
        curves.tpp,
        curves.t_hat,
        curves.loss,
        np.ones_like(curves.rate),
        np.ones(12),
    )
    _, found = fit_identified(flat, PUBLISHED)
    assert set(PAPER.fitted) - set(found.named("fitted"))


def test_standard_errors_are_those_of_repetition():
    """Point noise alone (Laplace, as the objective implies): scatter of refits against the computed error, over 30."""
    exact = drawn_curves(20, 81)
    estimates, errors = [], []
    for seed in range(30):
        noise = np.random.default_rng(seed).laplace(0, 0.003, exact.loss.shape)
        noisy = CurveSet(**{**vars(exact), "loss": exact.loss + noise})
        fit = fit_surrogate(noisy, starts=1)
        estimates.append(problem_of(noisy, PAPER).vector(fit.surrogate))
        errors.append([constant.standard_error for constant in identifiability(noisy, fit).constants])
    ratio = np.std(estimates, axis=0, ddof=1) / np.mean(errors, axis=0)
    assert ((ratio > 0.6) & (ratio < 1.3)).all()


def test_standard_errors_know_that_points_of_a_run_share_its_noise():
    """Runs that differ in shape besides: then 81 points are no 81 witnesses. Scatter over 30 fits, as before."""
    estimates, errors = [], []
    for seed in range(30):
        noisy = drawn_curves(
            noise=0.005, seed=seed, tau=np.geomspace(0.03, 1, 20), tpp=np.tile([20.0, 80, 200, 320], 5)
        )
        fit = fit_surrogate(noisy, starts=1)
        estimates.append(problem_of(noisy, PAPER).vector(fit.surrogate))
        errors.append([constant.standard_error for constant in identifiability(noisy, fit).constants])
    ratio = np.std(estimates, axis=0, ddof=1) / np.mean(errors, axis=0)
    assert ((ratio > 0.6) & (ratio < 1.4)).all()


def test_independent_points_are_at_most_changes_of_sign_plus_one():
    curves = drawn_curves(2, 11)
    offsets = np.array([[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], [1, 1, -1, -1, -1, 1, 1, 1, 1, 1, 1]])
    problem = problem_of(CurveSet(**{**vars(curves), "loss": curves.loss + 0.01 * offsets}), PAPER)
    assert information(problem, problem.vector(Surrogate(**TRUTH)), np.ones(4)).independent == 1 + 3
