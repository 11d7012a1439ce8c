"""tau out of an optimiser is B/(eta*lambda*D)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from scaling_collapse.live.optimizer import tau_of


def adamw(lr: float = 0.01, decay: float = 0.1) -> torch.optim.AdamW:
    bias, weight, extra = torch.ones(5), torch.ones(4, 4), torch.ones(2)
    groups = [
        {"params": [bias], "weight_decay": 0.0},
        {"params": [weight], "weight_decay": decay},
        {"params": [extra], "weight_decay": 7 * decay},
    ]
    return torch.optim.AdamW(groups, lr=lr)


def test_it_is_that_of_the_group_that_decays_most_parameters() -> None:
    batch_tokens, steps = 4096, 500
    tau = batch_tokens / (0.01 * 0.1 * batch_tokens * steps)
    assert tau_of(adamw(), steps) == pytest.approx(tau)
    assert tau_of(SimpleNamespace(optimizer=adamw()), steps) == pytest.approx(tau)


def test_the_learning_rate_is_the_peak_wherever_the_schedule_is() -> None:
    optimizer = adamw()
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))
    optimizer.step()
    schedule.step()
    assert tau_of(optimizer, 500) == pytest.approx(2.0)


def test_without_decay_length_or_adamw_there_is_none() -> None:
    assert tau_of(adamw(decay=0.0), 500) is None
    assert tau_of(adamw(lr=0.0), 500) is None
    assert tau_of(adamw(), None) is None
    assert tau_of(None, 500) is None
    assert tau_of(torch.optim.SGD([torch.ones(1)], lr=0.1, weight_decay=0.1), 500) is None
