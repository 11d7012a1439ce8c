"""The decoder's explicit backward passes against a plain decoder under autograd."""

from __future__ import annotations

import pytest
import torch

from scaling_collapse.config.model import Parameterisation
from scaling_collapse.model.cross_entropy import BLOCK_ROWS, unembedding_loss
from scaling_collapse.model.decoder import kind_of
from tests.unit.model.support import PARAMETERISATION, batch, decoder, plain_name, reference_of, small

SHAPES = {
    "squared ReLU, tied": {},
    "squared ReLU, untied, biases": {"tied_embeddings": False, "biases": True},
    "SwiGLU, tied": {"activation": "swiglu"},
    "SwiGLU, untied, biases, one head": {
        "activation": "swiglu", "tied_embeddings": False, "biases": True, "head_size": 24, "alibi_slopes": "steep"
    },
}  # fmt: skip


@pytest.mark.parametrize("changes", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("kind", ["standard", "mup", "completep"])
def test_loss_and_gradients_equal_the_plain_decoder(changes: dict[str, object], kind: str) -> None:
    parameterisation = Parameterisation.model_validate({**PARAMETERISATION.model_dump(), "kind": kind})
    ours = decoder(small(**changes), parameterisation).double()
    with torch.no_grad():  # constants at initialisation would hide a wrong bias or norm
        for name, parameter in ours.named_parameters():
            if kind_of(name) == "vector":
                parameter.add_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1)) * 0.1)
    reference = reference_of(ours, parameterisation).double()
    tokens, targets = batch(ours.model)
    loss, expected = ours(tokens, targets), reference(tokens, targets)
    torch.testing.assert_close(loss, expected, rtol=1e-6, atol=1e-6, check_dtype=False)
    loss.backward()
    expected.backward()
    for name, parameter in ours.named_parameters():
        want = reference.get_parameter(plain_name(name)).grad
        torch.testing.assert_close(parameter.grad, want, rtol=1e-5, atol=1e-7, msg=lambda text, n=name: f"{n}: {text}")


def test_the_future_does_not_reach_the_past() -> None:
    ours = decoder(small())
    tokens, _ = batch(ours.model, 1)
    changed = tokens.clone()
    changed[0, 7] = (changed[0, 7] + 1) % ours.model.vocabulary
    before, after = ours.logits(tokens), ours.logits(changed)
    torch.testing.assert_close(before[:, :7], after[:, :7], rtol=0, atol=0)
    assert (before[:, 7] - after[:, 7]).abs().max() > 1e-4


def test_sequences_do_not_reach_each_other() -> None:
    ours = decoder(small())
    tokens, targets = batch(ours.model, 4)
    together = ours(tokens, targets)
    apart = torch.stack([ours(tokens[i : i + 1], targets[i : i + 1]) for i in range(4)]).mean()
    torch.testing.assert_close(together, apart)


def test_initialisation_follows_the_parameterisation_and_the_seed() -> None:
    model = small(width=64, head_size=16, ffn_hidden=512, vocabulary=400, tied_embeddings=False)
    ours, again, other = decoder(model), decoder(model), decoder(model, seed=1)
    hidden, embedding = PARAMETERISATION.init_std * (16 / 64) ** 0.5, PARAMETERISATION.init_std
    assert ours.feed_forward[0].up.std().item() == pytest.approx(hidden, rel=0.02)
    assert ours.attention[1].qkv.std().item() == pytest.approx(hidden, rel=0.02)
    assert ours.embedding.std().item() == pytest.approx(embedding, rel=0.02)
    for (name, a), b, c in zip(ours.named_parameters(), again.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b), name
        assert kind_of(name) == "vector" or not torch.equal(a, c), name


@pytest.mark.parametrize("rows", [1, BLOCK_ROWS, BLOCK_ROWS + 1, 3 * BLOCK_ROWS - 1])
def test_blocked_loss_equals_torch(rows: int) -> None:
    generator = torch.Generator().manual_seed(rows)
    hidden = torch.randn(rows, 8, generator=generator, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(30, 8, generator=generator, dtype=torch.float64, requires_grad=True)
    targets = torch.randint(0, 30, (rows,), generator=generator)
    expected = torch.nn.functional.cross_entropy(1.7 * hidden @ weight.t(), targets)
    wanted = torch.autograd.grad(expected, (hidden, weight))
    loss = unembedding_loss(hidden, weight, targets, 1.7)
    torch.testing.assert_close(loss, expected, check_dtype=False)
    for got, want in zip(torch.autograd.grad(loss, (hidden, weight)), wanted, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-6, atol=1e-9)


def test_loss_is_exact_where_the_target_is_hopeless() -> None:
    hidden, weight = torch.tensor([[1.0]]), torch.tensor([[0.0], [500.0]])
    assert unembedding_loss(hidden, weight, torch.tensor([0]), 1.0).item() == pytest.approx(500.0)
