"""One optimiser step: gradients of the global batch, clipping, learning rate, update."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

from scaling_collapse.model.cross_entropy import LossKernel, unembedding_loss
from scaling_collapse.train.world import World

#: Elements to which each gradient's start is aligned: 64 bytes of float32, a cache line.
ALIGNMENT = 16


class FlatGradients:
    """One buffer of which every parameter's `.grad` is a view, with the loss behind them.

    Its norm, its clipping and its sum over ranks are single operations, whatever the number of tensors.
    """

    def __init__(self, parameters: Iterable[nn.Parameter]) -> None:
        trained = [parameter for parameter in parameters if parameter.requires_grad]
        sizes = [math.ceil(parameter.numel() / ALIGNMENT) * ALIGNMENT for parameter in trained]
        first = trained[0]
        self._buffer = torch.zeros(sum(sizes) + 1, dtype=first.dtype, device=first.device)
        self._gradient, self._loss = self._buffer[:-1], self._buffer[-1]
        start = 0
        for parameter, size in zip(trained, sizes, strict=True):
            parameter.grad = self._buffer[start : start + parameter.numel()].view_as(parameter)
            start += size

    def accumulate(
        self,
        decoder: nn.Module,
        batches: Iterable[Tensor],
        batch_sequences: int,
        world: World,
        kernel_of: Callable[[int], LossKernel] = lambda _: unembedding_loss,
    ) -> None:
        """Set gradients and loss to the mean over the global batch of `batch_sequences` sequences.

        `batches` are this rank's micro-batches of tokens (b, T+1); each counts by its share of the global batch.
        `kernel_of` says which loss kernel micro-batches of b sequences go through.
        """
        self._buffer.zero_()
        for tokens in batches:
            share = len(tokens) / batch_sequences
            loss = decoder(tokens[:, :-1], tokens[:, 1:], kernel_of(len(tokens)))
            (loss * share).backward()
            self._loss.add_(loss.detach(), alpha=share)
        world.sum_(self._buffer)

    def loss_and_norm(self) -> tuple[float, float]:
        """Return the loss [nats/token] and the norm of the whole gradient, before clipping."""
        loss, norm = torch.stack([self._loss, torch.linalg.vector_norm(self._gradient)]).tolist()
        return loss, norm

    def clip(self, norm: float, limit: float | None) -> None:
        """Scale the gradient to norm `limit` if it is longer, as torch's clip_grad_norm_ does."""
        if limit is not None and norm > limit:
            self._gradient.mul_(limit / (norm + 1e-6))


def update(optimizer: torch.optim.Optimizer, factor: float) -> None:
    """Take one optimiser step with each group's learning rate at `factor` of its peak."""
    for group in optimizer.param_groups:
        group["lr"] = group["peak_lr"] * factor
    optimizer.step()
