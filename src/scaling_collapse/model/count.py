"""Parameter counts from shapes alone, without allocating a weight."""

from __future__ import annotations

from scaling_collapse.config.model import Model


def matrix_parameters(model: Model) -> int:
    """Weights of embeddings and matrices: V*d (twice when untied) and, per block, attention 4*d^2 and the FFN's.

    A mixture holds the FFN once per expert.
    """
    embeddings = model.vocabulary * model.width * (1 if model.tied_embeddings else 2)
    attention = 4 * model.width**2
    ffn = (_inner(model) + 1) * model.width * model.ffn_hidden
    return embeddings + model.layers * (attention + model.experts * ffn)


def parameters(model: Model) -> int:
    """All parameters N: matrices, layer norms (two per block, and the final one) and, where the model has them, biases.

    With biases, so have layer norms and all linear layers but the unembedding. Each expert has its own layer norm.
    """
    norm = 2 * model.width if model.biases else model.width
    attention_bias = 4 * model.width if model.biases else 0
    ffn_bias = _inner(model) * model.ffn_hidden + model.width if model.biases else 0
    block = norm + attention_bias + model.experts * (norm + ffn_bias)
    return matrix_parameters(model) + model.layers * block + norm


def _inner(model: Model) -> int:
    """Matrices from width to the FFN's hidden size: SwiGLU has a gate beside the value."""
    return 2 if model.activation == "swiglu" else 1
