"""Hash routing and the mixture of experts (Fig 13)."""

from __future__ import annotations

import torch

from scaling_collapse.model.feed_forward import FeedForwardBranch
from scaling_collapse.model.mixture import MixtureBranch, route
from tests.unit.model.support import batch, decoder, small


def test_routing_is_balanced_fixed_and_differs_between_layers() -> None:
    tokens = torch.arange(50_000)
    first = route(tokens, 8, layer=0)
    shares = torch.bincount(first, minlength=8) / len(tokens)
    assert shares.min() > 0.9 / 8
    assert shares.max() < 1.1 / 8
    assert torch.equal(first, route(tokens, 8, layer=0))
    assert (first == route(tokens, 8, layer=1)).float().mean() < 0.2


def test_each_token_passes_its_expert_alone() -> None:
    model = small(experts=4)
    branch = MixtureBranch(model, multiplier=0.5, layer=1)
    for parameter in branch.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    tokens, x = torch.randint(0, 50, (40,)), torch.randn(40, model.width)
    out, chosen = branch(x, tokens), route(tokens, 4, 1)
    for i in range(40):
        expert = branch.experts[int(chosen[i])]
        torch.testing.assert_close(out[i : i + 1], expert(x[i : i + 1], tokens[i : i + 1]))


def test_equal_experts_equal_the_dense_network() -> None:
    dense = FeedForwardBranch(small(), 1.0)
    for parameter in dense.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    mixture = MixtureBranch(small(experts=3), 1.0, layer=0)
    for expert in mixture.experts:
        expert.load_state_dict(dense.state_dict())
    x, tokens = torch.randn(30, 24), torch.randint(0, 50, (30,))
    torch.testing.assert_close(mixture(x, tokens), dense(x, tokens))


def test_a_mixture_trains() -> None:
    model = small(experts=4)
    ours = decoder(model)
    tokens, targets = batch(model, 8)
    optimizer = torch.optim.AdamW(ours.parameters(), lr=0.01)
    losses = []
    for _ in range(40):
        loss = ours(tokens, targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]
