"""Standard, muP and CompleteP parameterisations: every width- and depth-dependent factor of the project, in one place.

`docs/parameterisation.md` maps each formula to its line. m_N = width / base width, m_L = layers / base layers.
Sources: section 3 of the paper (CompleteP with alpha = 1). Free of torch, so that plans can be made without it.
"""

from __future__ import annotations

from dataclasses import dataclass

from scaling_collapse.config.model import Model, Parameterisation


@dataclass(frozen=True)
class Scaling:
    """Factors of one model. Standard deviations and learning-rate factors are those of the tensors they name."""

    residual: float
    attention: float
    input: float
    output: float
    embedding_std: float
    hidden_std: float
    unembedding_std: float
    hidden_lr: float
    eps: float


def scaling(model: Model, parameterisation: Parameterisation) -> Scaling:
    """All factors of a model under a parameterisation; `hidden_lr` and `eps` multiply the base values."""
    p = parameterisation
    m_n = model.width / p.base_width
    m_l = model.layers / p.base_layers
    width_aware = p.kind in ("mup", "completep")
    depth_aware = p.kind == "completep"
    # >>> the parameterisation: the only lines that know how a factor depends on width or depth
    residual = 1 / m_l if depth_aware else 1.0
    attention = p.attention_multiplier / model.head_size if width_aware else model.head_size**-0.5
    output = p.output_multiplier / m_n if width_aware else p.output_multiplier
    hidden_std = p.init_std / m_n**0.5 if width_aware else p.init_std
    hidden_lr = 1 / m_n if width_aware else 1.0
    eps = 1 / (m_n * m_l) if depth_aware else 1 / m_n if width_aware else 1.0
    # <<<
    return Scaling(
        residual=residual,
        attention=attention,
        input=p.input_multiplier,
        output=output,
        embedding_std=p.init_std,
        hidden_std=hidden_std,
        unembedding_std=p.init_std,
        hidden_lr=hidden_lr,
        eps=eps,
    )


def hidden_lr(peak_lr: float, model: Model, parameterisation: Parameterisation) -> float:
    """Peak learning rate eta of the hidden matrices, the one that enters the timescale (Eq. 2)."""
    return peak_lr * scaling(model, parameterisation).hidden_lr


def base_weight_decay(weight_decay: float, model: Model, parameterisation: Parameterisation) -> float:
    """Decay of the tensors that train at the base learning rate, given that of the hidden matrices.

    Hidden decay grows as the hidden learning rate shrinks, so eta*lambda, hence tau, is the same for every tensor.
    """
    return weight_decay * scaling(model, parameterisation).hidden_lr
