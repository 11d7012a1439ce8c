"""Unembedding and cross-entropy in one node that never keeps the logits.

The gradients are formed in the forward pass, a block of rows at a time, so the (N, V) logits live only in cache.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

#: Mean loss [nats/token] of hidden states (N, D), unembedding (V, D), targets (N,) and the logits' scale.
LossKernel = Callable[[Tensor, Tensor, Tensor, float], Tensor]

BLOCK_ROWS = 256  # rows x 1024 logits x 4 bytes = 1 MiB, a core's second-level cache; measured in benchmarks/


class _UnembeddingLoss(torch.autograd.Function):
    """Mean loss [nats/token] of logits = scale * h U^T."""

    @staticmethod
    def forward(
        ctx: Any, hidden_ND: Tensor, unembedding_VD: Tensor, targets_N: Tensor, scale: float, grad_enabled: bool
    ) -> Tensor:
        rows = hidden_ND.shape[0]
        scaled_VD = unembedding_VD * scale
        # under torch.no_grad() the needs are still those of the tensors, so evaluation has to say that it wants none
        wanted = grad_enabled and any(ctx.needs_input_grad[:2])
        g_hidden_ND = torch.empty_like(hidden_ND) if wanted else None
        g_unembedding_VD = torch.zeros_like(unembedding_VD) if wanted else None
        losses_N = torch.empty(rows, dtype=torch.float32, device=hidden_ND.device)
        for start in range(0, rows, BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            h, target = hidden_ND[block], targets_N[block, None]
            logits = torch.mm(h, scaled_VD.t())
            at_target, highest = logits.gather(1, target), logits.amax(1, keepdim=True)
            p = torch.softmax(logits, dim=1)
            # the likeliest token's probability is 1/sum(exp(z - max z)), so this is exact where p of the target is 0
            losses_N[block] = (highest - at_target - p.amax(1, keepdim=True).log()).squeeze(1)
            if g_hidden_ND is None or g_unembedding_VD is None:
                continue
            p.scatter_add_(1, target, torch.full_like(at_target, -1.0))
            torch.mm(p, scaled_VD, out=g_hidden_ND[block])
            g_unembedding_VD.addmm_(p.t(), h, alpha=scale / rows)
        if g_hidden_ND is not None and g_unembedding_VD is not None:
            ctx.save_for_backward(g_hidden_ND.div_(rows), g_unembedding_VD)
        return losses_N.mean()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (g,) = grads
        g_hidden_ND, g_unembedding_VD = ctx.saved_tensors
        return g_hidden_ND * g, g_unembedding_VD * g, None, None, None


def unembedding_loss(hidden_ND: Tensor, unembedding_VD: Tensor, targets_N: Tensor, scale: float) -> Tensor:
    """Mean cross-entropy [nats/token] of targets (N,) under logits = scale * hidden (N, D) x unembedding (V, D)^T."""
    return _UnembeddingLoss.apply(  # type: ignore[no-any-return, no-untyped-call]
        hidden_ND, unembedding_VD, targets_N, scale, torch.is_grad_enabled()
    )
