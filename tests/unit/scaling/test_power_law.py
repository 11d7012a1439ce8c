from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaling_collapse.errors import ConfigError
from scaling_collapse.scaling.power_law import bootstrap_interval, fit_power_law, fit_power_law_with_offset

X = np.geomspace(1e5, 1e9, 9)


@given(coefficient=st.floats(0.1, 100), exponent=st.floats(-2, 2))
def test_exact_data_give_the_law_back(coefficient, exponent):
    fit = fit_power_law(X, coefficient * X**exponent)
    assert fit.coefficient == pytest.approx(coefficient, rel=1e-6)
    assert fit.exponent == pytest.approx(exponent, abs=1e-8)
    assert fit.warnings == ()


@given(offset=st.floats(0.5, 3), share=st.floats(0.2, 2), exponent=st.floats(-0.8, -0.1))
def test_exact_data_give_the_offset_back(offset, share, exponent):
    y = offset * (1 + share * (X / X[0]) ** exponent)
    fit = fit_power_law_with_offset(X, y)
    assert fit.offset == pytest.approx(offset, rel=1e-3)
    assert fit.exponent == pytest.approx(exponent, rel=1e-2)
    assert fit(X) == pytest.approx(y, rel=1e-5)


def test_standard_errors_equal_scipy_linregress():
    from scipy.stats import linregress

    y = 3 * X**-0.1 * np.exp(np.random.default_rng(0).normal(0, 0.02, len(X)))
    fit, reference = fit_power_law(X, y), linregress(np.log(X), np.log(y))
    assert fit.exponent == pytest.approx(reference.slope)
    assert fit.exponent_error == pytest.approx(reference.stderr)
    assert fit.coefficient_error == pytest.approx(reference.intercept_stderr)


def test_offset_fit_equals_scipy_curve_fit():
    from scipy.optimize import curve_fit

    y = (1.7 + 30 * X**-0.25) * np.exp(np.random.default_rng(1).normal(0, 0.003, len(X)))
    fit = fit_power_law_with_offset(X, y)
    law = lambda x, e, a, b: e + a * (x / 1e7) ** b  # noqa: E731
    best, covariance = curve_fit(law, X, y, p0=(1.6, 0.5, -0.3), sigma=y)
    assert fit.offset == pytest.approx(best[0], rel=1e-4)
    assert fit.exponent == pytest.approx(best[2], rel=1e-3)
    assert fit.offset_error == pytest.approx(np.sqrt(covariance[0, 0]), rel=1e-2)
    assert fit.exponent_error == pytest.approx(np.sqrt(covariance[2, 2]), rel=1e-2)


def test_interval_holds_the_truth_about_as_often_as_it_says():
    rng, hits = np.random.default_rng(2), 0
    for trial in range(60):
        y = 5 * X**-0.2 * np.exp(rng.normal(0, 0.02, len(X)))
        low, high = bootstrap_interval(X, y, level=0.8, draws=100, seed=trial)["exponent"]
        hits += low < -0.2 < high
    assert 36 <= hits <= 58  # 80% of 60 is 48; three standard deviations are 9


def test_interval_is_deterministic_and_covers_the_offset():
    y = (1.7 + 30 * X**-0.25) * np.exp(np.random.default_rng(3).normal(0, 0.003, len(X)))
    interval = bootstrap_interval(X, y, with_offset=True, draws=50)
    assert interval == bootstrap_interval(X, y, with_offset=True, draws=50)
    assert interval["offset"][0] < 1.7 < interval["offset"][1]


def test_warnings_say_what_is_weak():
    assert any("two" in w or "2 points" in w for w in fit_power_law([1, 10], [2, 1]).warnings)
    assert any("factor of 2" in w for w in fit_power_law([1, 1.5, 2], [3, 2.5, 2.2]).warnings)
    weak = fit_power_law_with_offset([1e5, 2e5, 3e5, 5e5], [4.0, 3.8, 3.71, 3.58]).warnings
    assert any("ill-conditioned" in w for w in weak)
    noisy = 5 * X**-0.05 * np.exp(np.random.default_rng(4).normal(0, 0.05, len(X)))
    assert any("not distinguishable from 0" in w for w in fit_power_law_with_offset(X, noisy).warnings)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1, 2], [1, -1], "y has values that are not positive"),
        ([0, 2], [1, 1], "x has values that are not positive"),
        ([1, np.nan], [1, 1], "x has values"),
        ([1, 2, 3], [1, 1], "two vectors of one length"),
        ([2, 2], [1, 2], "1 different x"),
    ],
)
def test_bad_input(x, y, message):
    with pytest.raises(ConfigError, match=message):
        fit_power_law(x, y)


def test_too_few_points():
    with pytest.raises(ConfigError, match="at least 3"):
        fit_power_law_with_offset([1, 2], [2, 1])
    with pytest.raises(ConfigError, match="no residual"):
        bootstrap_interval([1, 10], [2, 1])
    with pytest.raises(ConfigError, match="level"):
        bootstrap_interval(X, X, level=1.5)


def test_equal_values_are_no_law_with_an_offset() -> None:
    with pytest.raises(ConfigError, match="nothing falls"):
        fit_power_law_with_offset([1.0, 2.0, 4.0], [3.0, 3.0, 3.0])
