from __future__ import annotations

import pytest

from scaling_collapse.errors import ConfigError
from scaling_collapse.optim.laws import (
    BATCH_CRITICAL,
    BATCH_OPTIMAL,
    CELERITY_TAU_PRINTED,
    TAU_CELERITY,
    TAU_POWER_LINES,
    critical_batch_tokens,
    optimal_batch_tokens,
    tau_law,
)


@pytest.mark.parametrize(("tpp", "tau"), [(20, 0.224), (80, 0.108), (234, 0.061)])
def test_power_lines_law_has_the_values_of_section_3(tpp, tau):
    assert TAU_POWER_LINES(tpp) == pytest.approx(tau, abs=6e-4)


def test_celerity_law_meets_its_printed_values():
    for tpp, tau in CELERITY_TAU_PRINTED.items():
        assert TAU_CELERITY(tpp) == pytest.approx(tau, rel=0.006)


def test_batch_laws_in_closed_form():
    assert BATCH_OPTIMAL(1e10) == pytest.approx(0.0306 * 10**3.83)
    assert optimal_batch_tokens(1e10) == pytest.approx(2048 * 0.0306 * 10**3.83)
    assert BATCH_CRITICAL(1e10) == pytest.approx(0.0471 * 10**4.62)
    assert critical_batch_tokens(1e10) > optimal_batch_tokens(1e10)


def test_inverse():
    assert TAU_POWER_LINES.inverse(TAU_POWER_LINES(37.0)) == pytest.approx(37.0)


def test_law_by_name_and_what_is_no_law():
    assert tau_law("celerity") is TAU_CELERITY
    with pytest.raises(ConfigError, match="did you mean celerity"):
        tau_law("celerty")
    with pytest.raises(ConfigError, match="tokens per parameter is 0"):
        TAU_CELERITY(0)
    with pytest.raises(ConfigError, match="tau is nan"):
        TAU_CELERITY.inverse(float("nan"))
