"""ALiBi slopes and the causal bias."""

from __future__ import annotations

import math

import torch

from scaling_collapse.model.alibi import causal_bias, slopes


def test_eight_heads_have_the_slopes_of_the_rule() -> None:
    assert slopes(8) == [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]


def test_steep_slopes_start_at_one() -> None:
    assert slopes(2, "steep") == [1.0, 1 / 16]
    assert slopes(1, "steep") == [1.0]


def test_bias_is_linear_backwards_and_closed_forwards() -> None:
    bias = causal_bias(2, 5)
    assert bias.shape == (2, 5, 5)
    assert bias[0, 4, 1].item() == -3 / 16
    assert torch.all(torch.diagonal(bias, dim1=1, dim2=2) == 0)
    assert all(bias[1, i, j].item() == -math.inf for i in range(5) for j in range(i + 1, 5))
