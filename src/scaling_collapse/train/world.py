"""The processes that train one run together (ranks of torchrun), or the only one.

Gradients travel in one flat buffer, with the loss at its end: one collective a step, no wrapper around the model, and
accumulation over micro-batches needs no special case. DistributedDataParallel would overlap communication with the
backward pass, which pays off for models far larger than those of the `cpu` scale.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from scaling_collapse.errors import RunError


@dataclass(frozen=True)
class World:
    """This process's place: `rank` of `size`. With size 1 nothing is communicated."""

    rank: int = 0
    size: int = 1

    @property
    def first(self) -> bool:
        """Whether this process writes the files and speaks."""
        return self.rank == 0

    def sum_(self, tensor: Tensor) -> Tensor:
        """Sum a tensor over the ranks, in place; every rank gets the same bits."""
        if self.size > 1:
            dist.all_reduce(tensor)
        return tensor

    def copy_from_first_(self, tensor: Tensor) -> None:
        """Overwrite a tensor with the first rank's."""
        if self.size > 1:
            dist.broadcast(tensor, src=0)

    def highest(self, number: int) -> int:
        """Return the highest of the ranks' integers."""
        if self.size == 1:
            return number
        shared = torch.tensor(number, dtype=torch.int64)
        dist.all_reduce(shared, op=dist.ReduceOp.MAX)
        return int(shared)

    def wait(self) -> None:
        """Return when all ranks have come here."""
        if self.size > 1:
            dist.barrier()

    def decide(self, decision: Callable[[], Any]) -> Any:
        """Let the first rank decide; all ranks return its answer (JSON) or raise its RunError."""
        if self.size == 1:
            return decision()
        answer: dict[str, Any] = {}
        failure: RunError | None = None
        if self.first:
            try:
                answer = {"value": decision()}
            except RunError as error:
                failure, answer = error, {"error": [error.where, error.problem, error.fix]}
        answer = self._share(answer)
        if "error" in answer:
            raise failure or RunError(*answer["error"])
        return answer["value"]

    def _share(self, answer: dict[str, Any]) -> dict[str, Any]:
        text = torch.frombuffer(bytearray(json.dumps(answer).encode()), dtype=torch.uint8)
        length = torch.tensor(len(text))
        dist.broadcast(length, src=0)
        if not self.first:
            text = torch.empty(int(length), dtype=torch.uint8)
        dist.broadcast(text, src=0)
        return dict(json.loads(bytes(text.tolist())))


@contextmanager
def join_world() -> Iterator[World]:
    """Join the other processes under torchrun (gloo); alone otherwise."""
    if not dist.is_torchelastic_launched():
        yield World()
        return
    dist.init_process_group("gloo")
    try:
        yield World(dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()
