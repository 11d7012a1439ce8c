"""Simulated runs, and tiny trainings: letters of a Markov chain, which can turn into noise."""

from __future__ import annotations

import numpy as np
import torch

from scaling_collapse.curves.curve import Curve
from tests.unit.diagnose.support import course, noisy
from tests.unit.predict.support import run

STEPS = 200
T = np.arange(1, STEPS + 1) / STEPS
LETTERS, LENGTH, BATCH = 48, 32, 4


def losses(seed: int, final: float = 2.7) -> np.ndarray:
    """Losses of a healthy run of STEPS steps, with noise of 1%, which ends near `final`."""
    truth = course(T)
    return noisy(np.random.default_rng(seed), truth * final / truth[-1], noise=0.01)


def finished(seed: int = 100, name: str = "small", **facts: object) -> Curve:
    """A finished run of the same course."""
    return run(name, losses(seed, final=3.4), split="train", **facts)


def letters(sequences: int, noise_from: float = 1.0) -> torch.Tensor:
    """Sequences of a Markov chain, int64 of shape (sequences, LENGTH), noise from that fraction of them on."""
    random = torch.Generator().manual_seed(0)
    chain = torch.softmax(3 * torch.randn(LETTERS, LETTERS, generator=random), -1)
    columns = [torch.randint(LETTERS, (sequences, 1), generator=random)]
    for _ in range(LENGTH - 1):
        columns.append(torch.multinomial(chain[columns[-1][:, 0]], 1, generator=random))
    text = torch.cat(columns, 1)
    noise = text[round(noise_from * sequences) :]
    noise[:] = torch.randint(LETTERS, noise.shape, generator=random)
    return text
