from __future__ import annotations

import numpy as np
import pytest

from scaling_collapse.errors import CurveError
from scaling_collapse.surrogate.bootstrap import bootstrap_fit
from scaling_collapse.surrogate.fit import fit_surrogate
from scaling_collapse.surrogate.form import PAPER, Form
from scaling_collapse.surrogate.minimise import ROUNDINGS, minimise
from scaling_collapse.surrogate.problem import MAE, problem_of
from tests.unit.surrogate.support import drawn_curves

CURVES = drawn_curves(20, 41, noise=0.005, seed=3)
FIT = fit_surrogate(CURVES)


def test_draws_are_refits_of_resampled_runs():
    """The first draw, made once more from repeated curves instead of weights."""
    drawn = np.random.default_rng(5).integers(20, size=20)
    repeated = fit_surrogate(CURVES.where(drawn))
    first = bootstrap_fit(CURVES, FIT, draws=2, seed=5).draws[0]
    assert vars(first) == pytest.approx(vars(repeated.surrogate), rel=0.02)


def test_it_is_reproducible_and_depends_on_the_seed():
    one, same, other = (bootstrap_fit(CURVES, FIT, draws=5, seed=seed) for seed in (1, 1, 2))
    assert one.draws == same.draws
    assert one.draws != other.draws


def test_intervals_widen_with_their_level_and_hold_the_fit():
    drawn = bootstrap_fit(CURVES, FIT, draws=100)
    narrow, wide = drawn.interval("b_e", 0.5), drawn.interval("b_e", 0.95)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]
    assert wide[0] < FIT.surrogate.b_e < wide[1]
    assert set(drawn.intervals()) == set(PAPER.fitted)


def test_intervals_of_what_follows_from_the_constants():
    drawn = bootstrap_fit(CURVES, FIT, draws=50)
    low, high = drawn.interval(lambda surrogate: float(surrogate.b(0.2, 20)))
    values = sorted(float(draw.b(0.2, 20)) for draw in drawn.draws)
    assert values[1] <= low < high <= values[-2]


def test_more_runs_narrow_the_interval():
    """Four times as many runs at the same settings: half the width, or less, as few runs may miss whole settings."""
    many = drawn_curves(points=41, noise=0.005, seed=4, tau=np.tile(CURVES.tau, 4), tpp=np.tile(CURVES.tpp, 4))
    widths = [np.ptp(bootstrap_fit(c, fit_surrogate(c), draws=100).interval("b_e")) for c in (CURVES, many)]
    assert 0.2 < widths[1] / widths[0] < 0.7


def test_draws_without_two_values_are_drawn_again():
    lone = drawn_curves(4, 41, noise=0.005, tpp=np.array([20.0, 20, 20, 80]))
    drawn = bootstrap_fit(lone, fit_surrogate(lone), draws=40)
    assert len(drawn.draws) == 40
    assert drawn.redrawn == pytest.approx(40 * 0.32 / 0.68, abs=15)  # (3/4)^4 = 32% of draws miss the run at 80


def test_constants_that_are_not_fitted_stay():
    form = Form(("b_c", "q_c"))
    fit = fit_surrogate(CURVES, form)
    assert {(draw.b_e, draw.q_e) for draw in bootstrap_fit(CURVES, fit, draws=5).draws} == {(0.0, 0.0)}


def test_a_warm_start_ends_where_a_cold_one_does():
    problem = problem_of(CURVES, PAPER).with_weights(np.arange(20.0))
    cold = minimise(problem, np.array([-1.0, 0.2, 0.5, 0.1]))
    warm = minimise(problem, problem.vector(FIT.surrogate), MAE, None, ROUNDINGS[1:-1])
    assert warm.value == pytest.approx(cold.value, rel=1e-3)


@pytest.mark.parametrize(
    ("curves", "draws", "level", "message"),
    [
        (CURVES, 1, 0.9, "1 draws of 20"),
        (CURVES.where(np.array([0])), 9, 0.9, "9 draws of 1 run"),
        (CURVES.where(np.arange(10)), 9, 0.9, "not the runs of the fit"),
        (CURVES, 2, 1.0, "level 1"),
    ],
)
def test_what_cannot_be_resampled_is_an_error(curves, draws, level, message):
    with pytest.raises(CurveError, match=message):
        bootstrap_fit(curves, FIT, draws).interval("b_c", level)
