"""The single methods against generic optimisers, and on curves whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from scaling_collapse.curves.normalise import VALIDATION
from scaling_collapse.curves.theory import constant_rate_tpp
from scaling_collapse.errors import CurveError
from scaling_collapse.predict import methods
from scaling_collapse.predict.part import part_of
from scaling_collapse.predict.template import Template
from tests.unit.predict.support import grid, run, template

NOISY = st.integers(0, 10_000)


def case(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    l_of_t = 1 + np.sort(random.random(12))[::-1] / 3
    return 3 * l_of_t * (1 + 0.02 * random.standard_normal(12)), l_of_t, random.integers(1, 9, 12).astype(float)


@given(NOISY)
@settings(max_examples=25, deadline=None)
def test_divisors_minimise_their_objectives(seed: int) -> None:
    loss, l_of_t, count = case(seed)
    objectives = {
        methods.divisor_l1: lambda c: float((count * np.abs(loss - c * l_of_t)).sum()),
        methods.divisor_least_squares: lambda c: float((count * (loss - c * l_of_t) ** 2).sum()),
    }
    for divisor, objective in objectives.items():
        best = minimize_scalar(objective, bounds=(2, 4), method="bounded", options={"xatol": 1e-10})
        assert objective(divisor(loss, l_of_t, count)) <= best.fun + 1e-9
    assert methods.divisor_ratio(loss, l_of_t, count) == pytest.approx(np.average(loss / l_of_t, weights=count))


@given(NOISY)
@settings(max_examples=25, deadline=None)
def test_affine_is_the_weighted_straight_line(seed: int) -> None:
    loss, l_of_t, count = case(seed)
    assert methods.affine(loss, l_of_t, count) == pytest.approx(tuple(np.polyfit(l_of_t, loss, 1, w=np.sqrt(count))))


def test_affine_needs_a_template_that_varies() -> None:
    with pytest.raises(CurveError, match="flat over the part"):
        methods.affine(np.ones(3), np.ones(3), np.ones(3))


def test_power_law_is_exact_under_a_constant_rate_of_theory() -> None:
    t_hat = grid(50)
    curve = run("constant", 2.9 * constant_rate_tpp(t_hat, tpp=60, alpha=0.35, optimal_tpp=20))
    part = part_of(curve, template(50, schedule=""), VALIDATION, at=0.3)
    assert methods.power_law(part) == pytest.approx(2.9, rel=1e-3)


def test_affine_is_exact_where_runs_differ_by_a_constant() -> None:
    falling = 1 / grid(40) ** 0.3
    reference = Template(grid(40), (2 + falling) / 3, "2 + x")
    part = part_of(run("3 + x", 3 + falling), reference, VALIDATION, at=0.2)
    window = slice(part.window, None)
    assert methods.aligned(part, window, 1.0)[methods.AFFINE] == pytest.approx(4.0, rel=1e-9)
    assert methods.aligned(part, window, 1.0)[methods.LEAST_SQUARES] < 3.9  # the offset makes it fall too little
