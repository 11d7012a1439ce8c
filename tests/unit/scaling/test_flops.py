from __future__ import annotations

import math

import pytest

from scaling_collapse.config.model import Model
from scaling_collapse.errors import ConfigError
from scaling_collapse.scaling.flops import active_params, training_flops


def celerity(width, head_size, layers):
    return Model(
        width=width,
        layers=layers,
        head_size=head_size,
        ffn_hidden=8 * width,
        vocabulary=128256,
        sequence_length=8192,
        activation="squared_relu",
        tied_embeddings=False,
        biases=True,
    )


SMALL = {"width": 64, "layers": 3, "head_size": 16, "ffn_hidden": 256, "vocabulary": 1000, "sequence_length": 128}


@pytest.mark.parametrize(
    ("width", "head_size", "layers", "params", "tokens", "printed"),
    [  # section 5 and Table 10
        (640, 64, 13, 2.708e8, 6.34e10, 1.47e20),
        (896, 64, 17, 5.031e8, 1.178e11, 5.15e20),
        (1152, 128, 23, 9.064e8, 2.123e11, 1.68e21),
        (1536, 128, 30, 1.8104e9, 4.240e11, 6.54e21),
        (2048, 128, 40, 3.882e9, 9.092e11, 2.89e22),
    ],
)
def test_five_printed_totals_of_celerity(width, head_size, layers, params, tokens, printed):
    assert training_flops(celerity(width, head_size, layers), params, tokens) == pytest.approx(printed, rel=0.01)


def test_tied_model_by_hand():
    # The one matrix V*d is the unembedding: 6NV in full, nothing given back.
    attention = 3 * 3 * (4 * 128 * 64 + 3 * 128 + 2 * 64 * 64 + 64)
    expected = (6 * 200_000 + attention) * 1e6
    assert training_flops(Model(**SMALL), 200_000, 1e6) == pytest.approx(expected)


def test_untied_model_costs_the_backward_pass_of_its_embedding_more():
    # Same matrices beside one more V*d in N: 6Vd counted, 2Vd given back.
    more = 1000 * 64
    untied = training_flops(Model(**SMALL, tied_embeddings=False), 200_000 + more, 1e6)
    assert untied - training_flops(Model(**SMALL), 200_000, 1e6) == pytest.approx(4 * more * 1e6)


@pytest.mark.parametrize(("activation", "matrices"), [("swiglu", 3), ("squared_relu", 2)])
def test_idle_experts_cost_nothing(activation, matrices):
    model = Model(**SMALL, activation=activation, experts=8)
    idle = 7 * 3 * matrices * 64 * 256
    assert active_params(model, 200_000 + idle) == 200_000
    dense = training_flops(Model(**SMALL, activation=activation), 200_000, 1e6)
    assert training_flops(model, 200_000 + idle, 1e6) == pytest.approx(dense)


@pytest.mark.parametrize(("params", "tokens"), [(0, 1e6), (1e5, -1), (math.nan, 1e6), (1e5, math.inf)])
def test_impossible_values(params, tokens):
    with pytest.raises(ConfigError, match="both must be positive"):
        training_flops(Model(**SMALL), params, tokens)


def test_fewer_parameters_than_idle_experts():
    with pytest.raises(ConfigError, match="fewer than the idle ones"):
        training_flops(Model(**SMALL, experts=8), 1000, 1e6)
