from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaling_collapse.errors import ConfigError, ProjectError
from scaling_collapse.optim.timescale import batch_tokens_for, lr_for, timescale, weight_decay_for

positive = st.floats(1e-6, 1e3)


def test_paper_prints_0_105_for_610m_at_80_tpp():
    # Section 3: B = 504 sequences of 2048, lambda 0.1, eta = 1.62e-2*256/2048, D = 48.5e9 (Table 4).
    assert timescale(504 * 2048, 1.62e-2 * 256 / 2048, 0.1, 48.5e9) == pytest.approx(0.105, abs=5e-4)


@pytest.mark.parametrize(
    ("tokens", "batch", "tpp_tau", "lr_times_decay"),
    [  # section 5: implied eta*lambda of Celerity at 20, 80, 234 tokens per parameter
        (5.4e9, 176, 0.175, 1.52e-3),
        (21.7e9, 176, 0.087, 7.65e-4),
        (424.0e9, 464, 0.051, 1.76e-4),
        (909.2e9, 672, 0.051, 1.19e-4),
    ],
)
def test_celerity_decay_gives_the_printed_tau(tokens, batch, tpp_tau, lr_times_decay):
    assert timescale(batch * 8192, 1.0, lr_times_decay, tokens) == pytest.approx(tpp_tau, rel=0.01)


@given(tau=positive, batch=st.floats(1, 1e6), lr=st.floats(1e-6, 1), more=st.floats(1.01, 1e6))
def test_every_inverse_returns_to_tau(tau, batch, lr, more):
    tokens = batch * more
    decay = weight_decay_for(tau, batch, lr, tokens)
    assert timescale(batch, lr, decay, tokens) == pytest.approx(tau)
    assert lr_for(tau, batch, decay, tokens) == pytest.approx(lr)
    assert batch_tokens_for(tau, lr, decay, tokens * 1.001) == pytest.approx(batch * 1.001)


@given(factor=st.floats(1.5, 10))
def test_batch_lr_and_decay_are_exchangeable(factor):
    base = timescale(1e4, 0.01, 0.1, 1e7)
    assert timescale(1e4 * factor, 0.01, 0.1, 1e7) == pytest.approx(base * factor)
    assert timescale(1e4, 0.01 / factor, 0.1, 1e7) == pytest.approx(base * factor)
    assert timescale(1e4, 0.01, 0.1 / factor, 1e7) == pytest.approx(base * factor)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("place", range(4))
def test_impossible_values_are_one_line_errors(bad, place):
    values = [1e4, 0.01, 0.1, 1e7]
    values[place] = bad
    with pytest.raises(ConfigError, match=r"timescale: .* needs a positive finite one") as caught:
        timescale(*values)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, ProjectError)


def test_a_batch_larger_than_the_run_is_an_error():
    with pytest.raises(ConfigError, match="larger than the run"):
        timescale(1e4, 0.01, 0.1, 1e3)
    with pytest.raises(ConfigError, match="larger than the run"):
        batch_tokens_for(tau=200.0, lr=0.1, weight_decay=0.1, tokens=1e6)
