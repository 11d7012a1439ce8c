"""A plain decoder, written as most people would: nn.Linear, scaled_dot_product_attention with an additive mask.

The yardstick of `step_speed.py`, and the independent source that tests hold the project's own decoder against.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from scaling_collapse.config.model import Model, Parameterisation
from scaling_collapse.model.alibi import causal_bias
from scaling_collapse.model.parameterisation import scaling


class Block(nn.Module):
    """One pre-norm transformer block."""

    def __init__(self, model: Model, attention_scale: float, residual: float) -> None:
        super().__init__()
        d, f, bias = model.width, model.ffn_hidden, model.biases
        self.model, self.attention_scale, self.residual = model, attention_scale, residual
        self.norm1 = nn.LayerNorm(d, eps=model.layer_norm_eps, bias=bias)
        self.norm2 = nn.LayerNorm(d, eps=model.layer_norm_eps, bias=bias)
        self.qkv = nn.Linear(d, 3 * d, bias=bias)
        self.out = nn.Linear(d, d, bias=bias)
        self.up = nn.Linear(d, 2 * f if model.activation == "swiglu" else f, bias=bias)
        self.down = nn.Linear(f, d, bias=bias)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """(B, T, D) -> (B, T, D)."""
        b, t, d = x.shape
        q, k, v = (z.view(b, t, self.model.heads, -1).transpose(1, 2) for z in self.qkv(self.norm1(x)).split(d, dim=2))
        a = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=self.attention_scale)
        x = x + self.residual * self.out(a.transpose(1, 2).reshape(b, t, d))
        u = self.up(self.norm2(x))
        if self.model.activation == "swiglu":
            gate, value = u.chunk(2, dim=-1)
            h = functional.silu(gate) * value
        else:
            h = functional.relu(u) ** 2
        return x + self.residual * self.down(h)


class ReferenceDecoder(nn.Module):
    """The whole model; `forward` returns the mean loss [nats/token]."""

    mask: Tensor

    def __init__(self, model: Model, parameterisation: Parameterisation) -> None:
        super().__init__()
        factors = scaling(model, parameterisation)
        self.factors = factors
        self.embedding = nn.Embedding(model.vocabulary, model.width)
        self.blocks = nn.ModuleList(Block(model, factors.attention, factors.residual) for _ in range(model.layers))
        self.norm = nn.LayerNorm(model.width, eps=model.layer_norm_eps, bias=model.biases)
        self.unembedding = nn.Linear(model.width, model.vocabulary, bias=False)
        if model.tied_embeddings:
            self.unembedding.weight = self.embedding.weight
        self.register_buffer("mask", causal_bias(model.heads, model.sequence_length, model.alibi_slopes))

    def forward(self, tokens: Tensor, targets: Tensor) -> Tensor:
        """Mean cross-entropy of targets (B, T) given tokens (B, T)."""
        x = self.embedding(tokens) * self.factors.input
        for block in self.blocks:
            x = block(x, self.mask)
        logits = self.unembedding(self.norm(x)) * self.factors.output
        return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
