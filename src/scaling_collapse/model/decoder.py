"""The decoder-only transformer of the paper's proxies and of Celerity (Paper, sections 4 and 5)."""

from __future__ import annotations

import hashlib

import torch
from torch import Tensor, nn

from scaling_collapse.config.model import Model, Parameterisation
from scaling_collapse.model.alibi import causal_bias
from scaling_collapse.model.attention import AttentionBranch
from scaling_collapse.model.cross_entropy import LossKernel, unembedding_loss
from scaling_collapse.model.feed_forward import FeedForwardBranch
from scaling_collapse.model.mixture import MixtureBranch
from scaling_collapse.model.parameterisation import scaling


class Decoder(nn.Module):
    """Embedding, blocks of attention and feed-forward branches, final layer norm, unembedding."""

    causal_bias: Tensor

    def __init__(self, model: Model, parameterisation: Parameterisation) -> None:
        super().__init__()
        self.model, self.scaling = model, scaling(model, parameterisation)
        factors = self.scaling
        self.embedding = nn.Parameter(torch.empty(model.vocabulary, model.width))
        self.attention = nn.ModuleList(
            AttentionBranch(model, factors.attention, factors.residual) for _ in range(model.layers)
        )
        self.feed_forward = nn.ModuleList(
            FeedForwardBranch(model, factors.residual)
            if model.experts == 1
            else MixtureBranch(model, factors.residual, layer)
            for layer in range(model.layers)
        )
        self.norm = nn.Parameter(torch.ones(model.width))
        self.norm_bias = nn.Parameter(torch.zeros(model.width)) if model.biases else None
        self.unembedding = None if model.tied_embeddings else nn.Parameter(torch.empty(model.vocabulary, model.width))
        # one for all layers: it has heads * T^2 numbers
        bias_HTT = causal_bias(model.heads, model.sequence_length, model.alibi_slopes)
        self.register_buffer("causal_bias", bias_HTT, persistent=False)

    def initialise(self, seed: int) -> None:
        """Draw all matrices from zero-mean normals with the parameterisation's standard deviations.

        Every tensor has its own stream, seeded by (seed, name), so adding a tensor does not move the others.
        """
        for name, parameter in self.named_parameters():
            std = initial_std(self, name)
            if std is None:
                continue
            stream = hashlib.sha256(f"{seed}:{name}".encode()).digest()
            generator = torch.Generator().manual_seed(int.from_bytes(stream[:8], "little") >> 1)
            with torch.no_grad():
                parameter.normal_(0.0, std, generator=generator)

    def attention_bias(self, sequences: int, length: int) -> Tensor:
        """Bias (B*H, T, T) of the attention scores of B sequences of T tokens."""
        bias_HTT = self.causal_bias[:, :length, :length]
        return bias_HTT.expand(sequences, -1, -1, -1).reshape(-1, length, length)

    def hidden(self, tokens_BT: Tensor) -> Tensor:
        """Final normalised states (B*T, D) of tokens (B, T)."""
        tokens_N = tokens_BT.reshape(-1)
        x_ND = nn.functional.embedding(tokens_N, self.embedding) * self.scaling.input
        bias_PTT = self.attention_bias(*tokens_BT.shape)
        for attention, feed_forward in zip(self.attention, self.feed_forward, strict=True):
            x_ND = feed_forward(attention(x_ND, bias_PTT), tokens_N)
        return nn.functional.layer_norm(x_ND, [self.model.width], self.norm, self.norm_bias, self.model.layer_norm_eps)

    def logits(self, tokens_BT: Tensor) -> Tensor:
        """Logits (B, T, V) of the next token."""
        logits_NV = self.hidden(tokens_BT) @ (self._unembedding() * self.scaling.output).t()
        return logits_NV.view(*tokens_BT.shape, -1)

    def forward(self, tokens_BT: Tensor, targets_BT: Tensor, kernel: LossKernel = unembedding_loss) -> Tensor:
        """Mean loss [nats/token] of targets (B, T) given tokens (B, T)."""
        return kernel(self.hidden(tokens_BT), self._unembedding(), targets_BT.reshape(-1), self.scaling.output)

    def _unembedding(self) -> Tensor:
        return self.embedding if self.unembedding is None else self.unembedding


def kind_of(name: str) -> str:
    """What a parameter is: embedding, unembedding, hidden (matrix), or vector (layer norm or bias)."""
    leaf = name.rsplit(".", 1)[-1]
    if leaf in ("embedding", "unembedding"):
        return leaf
    return "hidden" if leaf in ("qkv", "out", "up", "down") else "vector"


def initial_std(decoder: Decoder, name: str) -> float | None:
    """Standard deviation at initialisation; None for vectors, which start at their constants."""
    factors = decoder.scaling
    return {
        "embedding": factors.embedding_std,
        "unembedding": factors.unembedding_std,
        "hidden": factors.hidden_std,
        "vector": None,
    }[kind_of(name)]
