"""Training FLOPs by the formula of Table 9, which reproduces the five printed totals of Celerity (section 5).

    FLOPs = 6*N*D - [untied] 2*V*d*D + 3*L*D*(4*S*d + 3*S + 2*d^2 + d)

6ND: each parameter costs 2 FLOPs a token forward and 4 backward. The look-up in the embedding costs nothing
forward, so an untied model, whose N holds V*d twice, gets 2*V*d*D back. A tied model holds V*d once, and that
once is the unembedding, which is a real matrix product: nothing to give back. The last term is attention over
the context S, uncausal as is usual, with softmax and norm. A mixture of experts counts the one expert that each
token visits.
"""

from __future__ import annotations

import math

from scaling_collapse.config.model import Model
from scaling_collapse.errors import ConfigError


def training_flops(model: Model, params: float, tokens: float) -> float:
    """Return the training FLOPs of a `model` of `params` N (all experts included) on `tokens` D.

    Raises ConfigError unless both are positive and finite, and the model has more parameters than idle experts.
    """
    if not (math.isfinite(params) and math.isfinite(tokens) and params > 0 and tokens > 0):
        raise ConfigError("training FLOPs", f"{params} parameters on {tokens} tokens; both must be positive.")
    layers, width, sequence = model.layers, model.width, model.sequence_length
    matrices = 6 * active_params(model, params)
    look_up = 0 if model.tied_embeddings else 2 * model.vocabulary * width
    attention = 3 * layers * (4 * sequence * width + 3 * sequence + 2 * width**2 + width)
    return float(tokens * (matrices - look_up + attention))


def active_params(model: Model, params: float) -> float:
    """Return the parameters that one token uses: of the experts of each block just one (top-1 routing, Fig 13)."""
    active = params - (model.experts - 1) * model.layers * _expert_params(model)
    if active <= 0:
        raise ConfigError(
            "training FLOPs", f"{params:g} parameters are fewer than the idle ones of {model.experts} experts."
        )
    return active


def _expert_params(model: Model) -> int:
    """Return the parameters of one feed-forward network."""
    inner = 2 if model.activation == "swiglu" else 1  # SwiGLU has a gate beside the first matrix
    biases = inner * model.ffn_hidden + model.width if model.biases else 0
    return (inner + 1) * model.width * model.ffn_hidden + biases
