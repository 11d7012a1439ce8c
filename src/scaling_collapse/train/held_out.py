"""Loss on held-out text: always the same sequences, spread evenly over the held-out split."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from scaling_collapse.errors import RunError
from scaling_collapse.train.world import World


class HeldOut:
    """`count` fixed sequences of the held-out split, or all of them where there are fewer."""

    def __init__(self, tokens: np.ndarray, sequence_length: int, count: int) -> None:
        windows = max(len(tokens) - 1, 0) // sequence_length
        if windows == 0:
            problem = f"the held-out split has {len(tokens)} tokens, fewer than one sequence of {sequence_length + 1}."
            raise RunError("corpus", problem, "use more text or a shorter sequence_length.")
        self.count = min(count, windows)
        self._tokens, self._length = tokens, sequence_length
        self._starts = [i * windows // self.count * sequence_length for i in range(self.count)]

    def batch(self, first: int, count: int) -> np.ndarray:
        """Sequences `first`.. as (count, T+1) int64; each window's last token is the next window's first."""
        starts = self._starts[first : first + count]
        return np.stack([self._tokens[start : start + self._length + 1] for start in starts]).astype(np.int64)

    def loss(self, decoder: nn.Module, device: str, batch_sequences: int, world: World) -> float:
        """Mean loss [nats/token] over the sequences, which the ranks share out; all ranks return the same."""
        first, last = (self.count * rank // world.size for rank in (world.rank, world.rank + 1))
        total = torch.zeros((), dtype=torch.float64)
        with torch.no_grad():
            for start in range(first, last, batch_sequences):
                batch = torch.from_numpy(self.batch(start, min(batch_sequences, last - start))).to(device)
                total += float(decoder(batch[:, :-1], batch[:, 1:])) * len(batch)
        return float(world.sum_(total)) / self.count


def validation_steps(steps: int, validations: int) -> frozenset[int]:
    """Steps after which to validate: `validations` points evenly spaced, the last at the end (20 = every 5%).

    A run shorter than that is validated after every step.
    """
    return frozenset(-(-steps * point // validations) for point in range(1, validations + 1))
