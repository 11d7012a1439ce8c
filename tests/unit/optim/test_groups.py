"""Parameter groups against the paper's rules, and one step against AdamW written out."""

from __future__ import annotations

import pytest
import torch

from scaling_collapse.config.recipe import Optimizer
from scaling_collapse.optim.groups import build_optimizer
from tests.unit.model.support import PARAMETERISATION, batch, decoder, small

RECIPE = Optimizer(peak_lr=0.02, weight_decay=0.6, beta1=0.9, beta2=0.95, eps=1e-8)


@pytest.mark.parametrize("tied", [True, False])
def test_groups_hold_every_parameter_once_with_the_papers_rates(tied: bool) -> None:
    ours = decoder(small(width=64, head_size=16, tied_embeddings=tied, biases=True))
    optimizer = build_optimizer(ours, ours.model, PARAMETERISATION, RECIPE)
    hidden, embedding, vectors = optimizer.param_groups
    assert sum(len(g["params"]) for g in optimizer.param_groups) == len(list(ours.parameters()))
    assert len(embedding["params"]) == (1 if tied else 2)
    assert all(p.ndim == 1 for p in vectors["params"])
    assert all(p.ndim == 2 for p in [*hidden["params"], *embedding["params"]])
    assert (hidden["peak_lr"], hidden["weight_decay"]) == (0.02 / 4, 0.6)
    assert (embedding["peak_lr"], vectors["peak_lr"], vectors["weight_decay"]) == (0.02, 0.02, 0.0)
    # one timescale for everything that decays: eta * lambda is the same
    assert embedding["peak_lr"] * embedding["weight_decay"] == pytest.approx(hidden["peak_lr"] * hidden["weight_decay"])


def test_steps_equal_adamw_written_out() -> None:
    ours = decoder(small())
    optimizer = build_optimizer(ours, ours.model, PARAMETERISATION, RECIPE)
    eps = RECIPE.eps / ((24 / 16) * (2 / 2))
    state = {p: (torch.zeros_like(p), torch.zeros_like(p), p.detach().clone()) for p in ours.parameters()}
    for step in (1, 2, 3):
        ours(*batch(ours.model, seed=step)).backward()
        for group in optimizer.param_groups:
            lr, decay = group["lr"], group["weight_decay"]
            for p in group["params"]:
                m, v, w = state[p]
                m.mul_(0.9).add_(p.grad, alpha=0.1)
                v.mul_(0.95).add_(p.grad**2, alpha=0.05)
                w.mul_(1 - lr * decay)
                w.sub_(lr * (m / (1 - 0.9**step)) / ((v / (1 - 0.95**step)).sqrt() + eps))
        optimizer.step()
        optimizer.zero_grad()
    for p, (_, _, w) in state.items():
        torch.testing.assert_close(p.detach(), w, rtol=1e-4, atol=1e-6)
