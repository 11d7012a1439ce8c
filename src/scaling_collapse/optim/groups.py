"""AdamW with the parameter groups of the paper (section 3): what decays, and at which learning rate it trains."""

from __future__ import annotations

import torch
from torch import nn

from scaling_collapse.config.model import Model, Parameterisation
from scaling_collapse.config.recipe import Optimizer
from scaling_collapse.model.decoder import kind_of
from scaling_collapse.model.parameterisation import base_weight_decay, scaling


def build_optimizer(
    decoder: nn.Module, model: Model, parameterisation: Parameterisation, optimizer: Optimizer
) -> torch.optim.AdamW:
    """Fused AdamW; each group keeps its `peak_lr`, which the loop multiplies with the schedule.

    Hidden matrices: eta and lambda after width scaling. Embeddings: base learning rate, decay with the same product.
    Layer norms and biases: base learning rate, no decay.
    """
    factors = scaling(model, parameterisation)
    hidden_lr = optimizer.peak_lr * factors.hidden_lr
    base_decay = base_weight_decay(optimizer.weight_decay, model, parameterisation)
    settings = {
        "hidden": (hidden_lr, optimizer.weight_decay),
        "embedding": (optimizer.peak_lr, base_decay),
        "vector": (optimizer.peak_lr, 0.0),
    }
    groups = []
    for kind, (peak_lr, weight_decay) in settings.items():
        members = [p for name, p in decoder.named_parameters() if kind_of(name).removeprefix("un") == kind]
        groups.append({"params": members, "lr": peak_lr, "peak_lr": peak_lr, "weight_decay": weight_decay})
    eps = optimizer.eps * factors.eps
    return torch.optim.AdamW(groups, betas=(optimizer.beta1, optimizer.beta2), eps=eps, fused=True)
