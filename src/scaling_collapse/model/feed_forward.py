"""Feed-forward branch with an explicit backward pass: x + m * W_down f(W_up layer_norm(x)).

f is squared ReLU or SwiGLU. Why one autograd node: see `attention.py`.
Shapes: N tokens, D width, F hidden, U = F or 2F.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from scaling_collapse.config.model import Model
from scaling_collapse.model.branch import (
    add_projected,
    add_projected_backward,
    affine,
    affine_backward,
    layer_norm_backward,
)


def squared_relu(up_NF: Tensor) -> tuple[Tensor, Tensor]:
    """relu(u)^2 and what its gradient needs; overwrites u."""
    up_NF.relu_()
    return up_NF * up_NF, up_NF


def squared_relu_backward(g_NF: Tensor, relu_NF: Tensor) -> Tensor:
    """d relu(u)^2 / du = 2 relu(u)."""
    return g_NF.mul_(relu_NF).mul_(2)


def swiglu(up_N2F: Tensor) -> tuple[Tensor, Tensor]:
    """silu(gate) * value with gate and value side by side in u; what its gradient needs is u."""
    gate_NF, value_NF = up_N2F.chunk(2, dim=1)
    return torch.nn.functional.silu(gate_NF).mul_(value_NF), up_N2F


def swiglu_backward(g_NF: Tensor, up_N2F: Tensor) -> Tensor:
    """Gradients of gate and value side by side."""
    gate_NF, value_NF = up_N2F.chunk(2, dim=1)
    g_gate_NF = torch.ops.aten.silu_backward(g_NF * value_NF, gate_NF)
    return torch.cat((g_gate_NF, torch.nn.functional.silu(gate_NF).mul_(g_NF)), dim=1)


ACTIVATIONS = {"squared_relu": (squared_relu, squared_relu_backward), "swiglu": (swiglu, swiglu_backward)}


class _Branch(torch.autograd.Function):
    """Everything from the layer norm to the residual sum."""

    @staticmethod
    def forward(
        ctx: Any,
        x_ND: Tensor,
        norm_D: Tensor,
        norm_bias_D: Tensor | None,
        up_UD: Tensor,
        up_bias_U: Tensor | None,
        down_DF: Tensor,
        down_bias_D: Tensor | None,
        activation: str,
        multiplier: float,
        eps: float,
    ) -> Tensor:
        normed_ND, mean, rstd = torch.native_layer_norm(x_ND, [x_ND.shape[1]], norm_D, norm_bias_D, eps)
        hidden_NF, kept = ACTIVATIONS[activation][0](affine(normed_ND, up_UD, up_bias_U))
        ctx.save_for_backward(x_ND, norm_D, norm_bias_D, up_UD, down_DF, mean, rstd, normed_ND, kept, hidden_NF)
        ctx.activation, ctx.multiplier, ctx.has_bias = activation, multiplier, up_bias_U is not None
        return add_projected(x_ND, hidden_NF, down_DF, down_bias_D, multiplier)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (g_ND,) = grads
        x_ND, norm_D, norm_bias_D, up_UD, down_DF, mean, rstd, normed_ND, kept, hidden_NF = ctx.saved_tensors
        g_hidden_NF, g_down_DF, g_down_bias_D = add_projected_backward(
            g_ND, hidden_NF, down_DF, ctx.has_bias, ctx.multiplier
        )
        g_up_NU = ACTIVATIONS[ctx.activation][1](g_hidden_NF, kept)
        g_normed_ND, g_up_UD, g_up_bias_U = affine_backward(g_up_NU, normed_ND, up_UD, ctx.has_bias)
        g_x_ND, g_norm_D, g_norm_bias_D = layer_norm_backward(g_normed_ND, x_ND, mean, rstd, norm_D, norm_bias_D)
        return (
            g_x_ND.add_(g_ND),
            g_norm_D,
            g_norm_bias_D,
            g_up_UD,
            g_up_bias_U,
            g_down_DF,
            g_down_bias_D,
            *(None,) * 3,
        )


class FeedForwardBranch(nn.Module):
    """Pre-norm feed-forward network, added to its input (Paper, sections 4 and 5)."""

    def __init__(self, model: Model, multiplier: float) -> None:
        super().__init__()
        width, hidden = model.width, model.ffn_hidden
        rows = 2 * hidden if model.activation == "swiglu" else hidden
        self.activation, self.multiplier, self.eps = model.activation, multiplier, model.layer_norm_eps
        self.norm = nn.Parameter(torch.ones(width))
        self.norm_bias = nn.Parameter(torch.zeros(width)) if model.biases else None
        self.up = nn.Parameter(torch.empty(rows, width))
        self.up_bias = nn.Parameter(torch.zeros(rows)) if model.biases else None
        self.down = nn.Parameter(torch.empty(width, hidden))
        self.down_bias = nn.Parameter(torch.zeros(width)) if model.biases else None

    def forward(self, x_ND: Tensor, tokens_N: Tensor) -> Tensor:
        """Add the branch to x, (N, D) -> (N, D). A dense network does not look at the tokens."""
        return _Branch.apply(  # type: ignore[no-any-return, no-untyped-call]
            x_ND,
            self.norm,
            self.norm_bias,
            self.up,
            self.up_bias,
            self.down,
            self.down_bias,
            self.activation,
            self.multiplier,
            self.eps,
        )
