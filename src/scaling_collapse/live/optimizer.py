"""The AdamW timescale of a training, from its optimiser: groups of parameters as torch has them, no import of torch."""

from __future__ import annotations

from typing import Any

from scaling_collapse.errors import ConfigError
from scaling_collapse.optim.timescale import timescale


def tau_of(optimizer: Any, total_steps: float | None) -> float | None:
    """Return tau of a run of `total_steps` optimiser steps, by the group that decays most parameters.

    The batch cancels from Eq. 2: D = B * steps. None for an optimiser that is not AdamW, for no weight decay, and where
    the length is not known. The peak learning rate is the one before a scheduler scales it.
    """
    inner = getattr(optimizer, "optimizer", optimizer)  # wrapped, as accelerate and DeepSpeed do
    if total_steps is None or "adamw" not in type(inner).__name__.lower():
        return None
    decayed = [group for group in inner.param_groups if group.get("weight_decay", 0) > 0]
    if not decayed:
        return None
    group = max(decayed, key=lambda group: sum(parameter.numel() for parameter in group["params"]))
    lr = float(group.get("initial_lr", group["lr"]))
    try:
        return timescale(1.0, lr, float(group["weight_decay"]), total_steps)
    except ConfigError:
        return None
