"""Attention with linear biases (ALiBi): positions enter as a penalty on distance, one slope a head."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor


def slopes(heads: int, kind: Literal["standard", "steep"] = "standard") -> list[float]:
    """Slopes of the heads, steepest first.

    `standard`: 2^(-8i/n), i = 1..n, the ALiBi rule for n a power of two, used here for every n.
    `steep`: 2^(-8(i-1)/n), the same ladder moved up one rung so that it starts at slope 1. With one or two heads
    the standard ladder has no head that looks at the neighbouring tokens (n = 2: 1/16 and 1/256).
    """
    shift = 1 if kind == "standard" else 0
    return [2.0 ** (-8.0 * (i + shift) / heads) for i in range(heads)]


def causal_bias(heads: int, length: int, kind: Literal["standard", "steep"] = "standard") -> Tensor:
    """Bias (heads, length, length) added to the scores: -slope * distance backwards, -inf forwards."""
    position = torch.arange(length)
    distance = position[:, None] - position[None, :]
    bias_HTT = -torch.tensor(slopes(heads, kind))[:, None, None] * distance
    return bias_HTT.masked_fill(distance < 0, float("-inf"))
