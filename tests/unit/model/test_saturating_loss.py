from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from scaling_collapse.model.cross_entropy import LossKernel, unembedding_loss
from scaling_collapse.model.saturating_loss import CEILING, saturating_loss


def test_the_ceiling_is_the_largest_number_of_e4m3() -> None:
    assert math.exp(CEILING) == pytest.approx(torch.finfo(torch.float8_e4m3fn).max)


def with_gradients(kernel: LossKernel, hidden: Tensor, unembedding: Tensor, targets: Tensor) -> list[Tensor]:
    leaves = [hidden.clone().requires_grad_(), unembedding.clone().requires_grad_()]
    loss = kernel(*leaves, targets, 0.7)
    loss.backward()
    return [loss.detach(), *(leaf.grad for leaf in leaves if leaf.grad is not None)]


@settings(deadline=None)
@given(seed=st.integers(0, 1000))
def test_it_is_the_right_kernel_while_no_logit_reaches_the_ceiling(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    hidden, unembedding = torch.randn(7, 4, generator=generator), torch.randn(11, 4, generator=generator) * 0.5
    targets = torch.randint(0, 11, (7,), generator=generator)
    for wrong, right in zip(
        with_gradients(saturating_loss, hidden, unembedding, targets),
        with_gradients(unembedding_loss, hidden, unembedding, targets),
        strict=True,
    ):
        torch.testing.assert_close(wrong, right)


def test_above_the_ceiling_the_loss_is_right_and_the_gradient_is_that_of_saturated_exponentials() -> None:
    unembedding = torch.tensor([[10.0], [0.0], [-1.0]])
    hidden = torch.tensor([[1.0]])
    loss = saturating_loss(hidden.requires_grad_(), unembedding, torch.tensor([0]), 1.0)
    loss.backward()
    assert loss.item() == pytest.approx(math.log(1 + math.exp(-10) + math.exp(-11)), rel=1e-3)
    total = 448 + 1 + math.exp(-1)  # instead of e^10 + 1 + e^-1
    expected = 10 * (448 / total - 1) - 1 * math.exp(-1) / total
    assert hidden.grad is not None
    assert hidden.grad.item() == pytest.approx(expected, rel=1e-4)
    assert hidden.grad.item() < -0.01  # the right gradient is -0.0005: sure tokens are made surer
