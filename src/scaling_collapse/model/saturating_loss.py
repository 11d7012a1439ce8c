"""A loss kernel that is numerically wrong on purpose: the fault that the paper's authors had, planted (section 7).

It forms the softmax of its gradients from exponentials in a narrow format without subtracting the row's largest logit
first, and these saturate. A token that the model is very sure of then looks less likely than it is, so nothing stops
the model from becoming surer still. The loss that it reports is right: only the course of training tells.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

#: Largest logit whose exponential is told apart: 448 is the largest number of the 8-bit format E4M3 (OCP FP8).
CEILING = math.log(448)


class _SaturatingLoss(torch.autograd.Function):
    """Mean loss [nats/token] of logits = scale * h U^T, with the gradient of their saturated softmax."""

    @staticmethod
    def forward(ctx: Any, hidden_ND: Tensor, unembedding_VD: Tensor, targets_N: Tensor, scale: float) -> Tensor:
        scaled_VD = unembedding_VD * scale
        logits_NV = hidden_ND @ scaled_VD.t()
        p_NV = torch.softmax(logits_NV.clamp(max=CEILING), dim=1)
        p_NV -= nn.functional.one_hot(targets_N, len(unembedding_VD))
        rows = len(hidden_ND)
        ctx.save_for_backward(p_NV @ scaled_VD / rows, p_NV.t() @ hidden_ND * (scale / rows))
        return nn.functional.cross_entropy(logits_NV, targets_N)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (g,) = grads
        g_hidden_ND, g_unembedding_VD = ctx.saved_tensors
        return g_hidden_ND * g, g_unembedding_VD * g, None, None


def saturating_loss(hidden_ND: Tensor, unembedding_VD: Tensor, targets_N: Tensor, scale: float) -> Tensor:
    """As `unembedding_loss`, with the right loss and wrong gradients wherever a logit is above CEILING."""
    return _SaturatingLoss.apply(  # type: ignore[no-any-return, no-untyped-call]
        hidden_ND, unembedding_VD, targets_N, scale
    )
