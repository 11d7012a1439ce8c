"""Attention branch with an explicit backward pass: x + m * W_o attention(layer_norm(x)).

Small models spend most of an eager step between their matrix products. One autograd node a branch, with fused
projections and torch's own softmax kernels, runs the step at the speed of its products on a CPU (benchmarks/).
Shapes: B sequences, T tokens, N = B*T, D width, H heads, K head size.
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


class _Branch(torch.autograd.Function):
    """Everything from the layer norm to the residual sum."""

    @staticmethod
    def forward(
        ctx: Any,
        x_ND: Tensor,
        norm_D: Tensor,
        norm_bias_D: Tensor | None,
        qkv_3DD: Tensor,
        qkv_bias_3D: Tensor | None,
        out_DD: Tensor,
        out_bias_D: Tensor | None,
        bias_PTT: Tensor,
        heads: int,
        scale: float,
        multiplier: float,
        eps: float,
    ) -> Tensor:
        length, width = bias_PTT.shape[-1], x_ND.shape[1]
        normed_ND, mean, rstd = torch.native_layer_norm(x_ND, [width], norm_D, norm_bias_D, eps)
        qkv_N3D = affine(normed_ND, qkv_3DD, qkv_bias_3D)
        q_PTK, k_PTK, v_PTK = _split_heads(qkv_N3D, length, heads, 3)
        scores_PTT = torch.baddbmm(bias_PTT, q_PTK, k_PTK.transpose(1, 2), alpha=scale)
        weights_PTT = torch.softmax(scores_PTT, dim=-1)
        mixed_ND = _join_heads(torch.bmm(weights_PTT, v_PTK)[None], heads)
        around = (x_ND, norm_D, norm_bias_D, mean, rstd, normed_ND)
        ctx.save_for_backward(*around, qkv_3DD, out_DD, q_PTK, k_PTK, v_PTK, weights_PTT, mixed_ND)
        ctx.heads, ctx.scale, ctx.multiplier, ctx.has_bias = heads, scale, multiplier, qkv_bias_3D is not None
        return add_projected(x_ND, mixed_ND, out_DD, out_bias_D, multiplier)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (g_ND,) = grads
        x_ND, norm_D, norm_bias_D, mean, rstd, normed_ND, *inner = ctx.saved_tensors
        qkv_3DD, out_DD, q_PTK, k_PTK, v_PTK, weights_PTT, mixed_ND = inner
        length = q_PTK.shape[1]
        g_mixed_ND, g_out_DD, g_out_bias_D = add_projected_backward(
            g_ND, mixed_ND, out_DD, ctx.has_bias, ctx.multiplier
        )
        (g_mixed_PTK,) = _split_heads(g_mixed_ND, length, ctx.heads, 1)
        g_qkv = torch.empty((3, *q_PTK.shape), dtype=g_ND.dtype, device=g_ND.device)
        torch.bmm(weights_PTT.transpose(1, 2), g_mixed_PTK, out=g_qkv[2])
        g_weights_PTT = torch.bmm(g_mixed_PTK, v_PTK.transpose(1, 2))
        g_scores_PTT = torch._softmax_backward_data(g_weights_PTT, weights_PTT, -1, g_ND.dtype)
        torch.bmm(g_scores_PTT, k_PTK, out=g_qkv[0])
        torch.bmm(g_scores_PTT.transpose(1, 2), q_PTK, out=g_qkv[1])
        g_qkv[:2].mul_(ctx.scale)
        g_qkv_N3D = _join_heads(g_qkv, ctx.heads)
        g_normed_ND, g_qkv_3DD, g_qkv_bias_3D = affine_backward(g_qkv_N3D, normed_ND, qkv_3DD, ctx.has_bias)
        g_x_ND, g_norm_D, g_norm_bias_D = layer_norm_backward(g_normed_ND, x_ND, mean, rstd, norm_D, norm_bias_D)
        return (
            g_x_ND.add_(g_ND),
            g_norm_D,
            g_norm_bias_D,
            g_qkv_3DD,
            g_qkv_bias_3D,
            g_out_DD,
            g_out_bias_D,
            *(None,) * 5,
        )


def _split_heads(x: Tensor, length: int, heads: int, parts: int) -> Tensor:
    """(N, parts*D) -> (parts, B*H, T, K), contiguous, which batched matrix products want."""
    sequences, size = x.shape[0] // length, x.shape[1] // (heads * parts)
    split = x.view(sequences, length, parts, heads, size).permute(2, 0, 3, 1, 4).contiguous()
    return split.view(parts, sequences * heads, length, size)


def _join_heads(x: Tensor, heads: int) -> Tensor:
    """(parts, B*H, T, K) -> (N, parts*D), the inverse of `_split_heads`."""
    parts, pairs, length, size = x.shape
    joined = x.view(parts, pairs // heads, heads, length, size).permute(1, 3, 0, 2, 4)
    return joined.reshape(pairs // heads * length, parts * heads * size)


class AttentionBranch(nn.Module):
    """Pre-norm causal self-attention with ALiBi, added to its input (Paper, sections 4 and 5)."""

    def __init__(self, model: Model, scale: float, multiplier: float) -> None:
        super().__init__()
        width = model.width
        self.heads, self.scale, self.multiplier, self.eps = model.heads, scale, multiplier, model.layer_norm_eps
        self.norm = nn.Parameter(torch.ones(width))
        self.norm_bias = nn.Parameter(torch.zeros(width)) if model.biases else None
        self.qkv = nn.Parameter(torch.empty(3 * width, width))
        self.qkv_bias = nn.Parameter(torch.zeros(3 * width)) if model.biases else None
        self.out = nn.Parameter(torch.empty(width, width))
        self.out_bias = nn.Parameter(torch.zeros(width)) if model.biases else None

    def forward(self, x_ND: Tensor, bias_PTT: Tensor) -> Tensor:
        """Add the branch to x, (B*T, D) -> (B*T, D); `bias_PTT` (B*H, T, T) is added to the scores (ALiBi, causal)."""
        return _Branch.apply(  # type: ignore[no-any-return, no-untyped-call]
            x_ND,
            self.norm,
            self.norm_bias,
            self.qkv,
            self.qkv_bias,
            self.out,
            self.out_bias,
            bias_PTT,
            self.heads,
            self.scale,
            self.multiplier,
            self.eps,
        )
