from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaling_collapse.errors import ConfigError
from scaling_collapse.scaling.compression import (
    compute_ratio,
    parameter_ratio_for,
    smallest_parameter_ratio,
    token_ratio,
    tokens_per_parameter,
)


def test_values_of_section_3():
    # The paper reads 234 TPP -> k_N .38, C ratio 1.67; k_N .38 gives 1.660 and TPP 229.8.
    assert compute_ratio(0.38) == pytest.approx(1.660, abs=5e-4)
    assert tokens_per_parameter(0.38) == pytest.approx(229.8, abs=0.06)
    assert parameter_ratio_for(234) == pytest.approx(0.38, abs=5e-3)
    assert compute_ratio(parameter_ratio_for(234)) == pytest.approx(1.67, abs=5e-3)


def test_the_optimum_is_the_optimum():
    assert token_ratio(1.0) == 1
    assert compute_ratio(1.0) == 1
    assert parameter_ratio_for(20) == 1


@given(k=st.floats(0.15, 20))
def test_equal_loss_everywhere_else_costs_more(k):
    assert k**-0.35 + token_ratio(k) ** -0.35 == pytest.approx(2)  # the two reducible parts add up to the optimum's
    assert compute_ratio(k) >= 1 - 1e-12
    assert parameter_ratio_for(tokens_per_parameter(k)) == pytest.approx(k)


def test_too_small_a_model_never_reaches_the_loss():
    assert smallest_parameter_ratio() == pytest.approx(2 ** (-1 / 0.35))
    for k in (smallest_parameter_ratio(), 0.1, 0.0, -1.0, float("nan")):
        with pytest.raises(ConfigError, match="never reach"):
            token_ratio(k)
    with pytest.raises(ConfigError, match="tokens per parameter"):
        parameter_ratio_for(0)
    with pytest.raises(ConfigError, match="exponent"):
        token_ratio(0.5, alpha=0)
