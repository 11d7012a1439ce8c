"""Hash-routed mixture of experts (Fig 13): each token's identity chooses its one expert, so routing is not learnt."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from scaling_collapse.config.model import Model
from scaling_collapse.model.feed_forward import FeedForwardBranch

GOLDEN = 2654435761  # 2^32 / golden ratio, for multiplicative hashing (Knuth, TAOCP 6.4)
MIXER = 0x2C1B3C6D  # odd 30-bit multiplier, so that products of 32-bit numbers stay within int64
MASK = 0xFFFFFFFF


def route(tokens_N: Tensor, experts: int, layer: int) -> Tensor:
    """Expert of each token, (N,) in [0, experts): a multiplicative hash, different in each layer."""
    mixed_N = ((tokens_N + 1) * GOLDEN + layer * MIXER) & MASK
    mixed_N = ((mixed_N ^ (mixed_N >> 15)) * MIXER) & MASK
    return (mixed_N ^ (mixed_N >> 12)) % experts


class MixtureBranch(nn.Module):
    """Feed-forward branches of which each token passes one (top-1)."""

    def __init__(self, model: Model, multiplier: float, layer: int) -> None:
        super().__init__()
        self.layer = layer
        self.experts = nn.ModuleList(FeedForwardBranch(model, multiplier) for _ in range(model.experts))

    def forward(self, x_ND: Tensor, tokens_N: Tensor) -> Tensor:
        """Add each token's expert to x, (N, D) -> (N, D)."""
        chosen_N = route(tokens_N, len(self.experts), self.layer)
        order_N = torch.argsort(chosen_N, stable=True)
        counts = torch.bincount(chosen_N, minlength=len(self.experts)).tolist()
        parts = torch.split(x_ND[order_N], counts)
        done_ND = torch.cat([expert(part, tokens_N) for expert, part in zip(self.experts, parts, strict=True)])
        return torch.empty_like(x_ND).index_copy(0, order_N, done_ND)
