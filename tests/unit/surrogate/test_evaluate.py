from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scaling_collapse.errors import CurveError
from scaling_collapse.surrogate.ablation import FORMS, ORACLE, ablation_table
from scaling_collapse.surrogate.evaluate import errors_by, held_out_errors, mae_percent, predicted
from scaling_collapse.surrogate.form import Surrogate
from scaling_collapse.surrogate.per_curve import correlations, fit_per_curve, pearson
from tests.unit.surrogate.support import TRUTH, drawn_curves

TRUE = Surrogate(**TRUTH)
EXACT = drawn_curves(6, 81, tpp=np.array([20.0, 20, 80, 80, 320, 320]))


def test_errors_by_hand():
    """Run 0 lies 1% too high in the first half of the points, run 1 is off by 3% in one point."""
    wrong = predicted(TRUE, EXACT)
    wrong[0, EXACT.t_hat < 0.6 - 1e-9] += 0.01
    wrong[1, 80] -= 0.03
    curves = replace(EXACT, loss=wrong)
    errors = held_out_errors(TRUE, curves, ((0.2, 1.0), (0.6, 1.0)))
    assert len(errors) == 12
    whole = errors[errors.t_hat_from == 0.2].set_index("run")
    assert whole.mae_percent[["run0", "run1", "run2"]].to_list() == pytest.approx([40 / 81, 3 / 81, 0])
    assert whole.bias_percent[["run0", "run1"]].to_list() == pytest.approx([-40 / 81, 3 / 81])
    assert whole.max_percent[["run0", "run1"]].to_list() == pytest.approx([1, 3])
    late = errors[errors.t_hat_from == 0.6].set_index("run")
    assert late.mae_percent[["run0", "run1"]].to_list() == pytest.approx([0, 3 / 41], abs=1e-9)
    assert mae_percent(TRUE, curves) == pytest.approx(whole.mae_percent.to_numpy())
    by_band = errors_by(errors, ["tpp"])
    first = by_band[(by_band.tpp == 20) & (by_band.t_hat_from == 0.2)].iloc[0]
    assert (first.runs, first.mae_percent) == (2, pytest.approx(43 / 162))
    assert (first.worst_mae_percent, first.max_percent) == (pytest.approx(40 / 81), pytest.approx(3))


def test_a_range_without_points_is_an_error():
    with pytest.raises(CurveError, match=r"no point of the curves lies in t_hat 0\.1 to 0\.15"):
        held_out_errors(TRUE, EXACT, ((0.1, 0.15),))


def test_per_curve_fits_find_each_runs_own_b_and_q():
    fits = fit_per_curve(EXACT)
    assert fits.b == pytest.approx(TRUE.b(EXACT.tau, EXACT.tpp), rel=0.01)
    assert fits.q == pytest.approx(TRUE.q(EXACT.tau, EXACT.tpp), rel=0.01)
    assert fits.run_mae_percent.max() < 0.002


def test_correlations_are_pearsons():
    curves = drawn_curves(12, 41)
    fits = fit_per_curve(curves)
    found = correlations(fits, curves)
    assert set(found) == {"b, tau", "b, TPP", "q, tau", "q, TPP"}
    assert found["b, tau"] == pytest.approx(np.corrcoef(fits.b, curves.tau)[0, 1])
    assert found["b, tau"] < -0.8  # b falls with tau, q with TPP, by the drawn laws
    assert found["q, TPP"] < -0.7
    assert np.isnan(pearson(np.ones(3), np.arange(3.0)))


def test_ablations_on_curves_that_need_both_laws():
    """Curves drawn with both laws: each law that a form lacks costs, and a form that has them finds held-out runs."""
    curves = drawn_curves(24, 41, noise=0.001)
    table = ablation_table(curves.where(np.arange(16)), curves.where(np.arange(16, 24))).set_index("form")
    assert list(table.index) == [*FORMS, ORACLE]
    held_out = table.tested_mae_percent
    assert held_out["b = PL(tau), q = PL(TPP)"] < 0.15
    for lacking in ("no schedule term", "b, q fixed", "b fixed, q = PL(TPP)", "b = PL(tau), q fixed"):
        assert held_out[lacking] > 3 * held_out["b = PL(tau), q = PL(TPP)"], lacking
    assert held_out[ORACLE] == held_out.min()
    assert (table.tested_worst_percent >= table.tested_mae_percent).all()
    assert table.constants.to_list() == [0, 2, 3, 3, 4, 6, 6, 2]
