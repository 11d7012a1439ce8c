"""Logs with known faults, as nanoGPT prints them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from tests.unit.diagnose.support import course, noisy

Points = list[tuple[int, float]]

STEPS = 1000
T = np.arange(1, STEPS + 1) / STEPS


def healthy(seed: int = 0) -> Points:
    """A run of STEPS steps, from 1."""
    return faulty(np.ones(STEPS), seed)


def faulty(factor: np.ndarray, seed: int = 0) -> Points:
    """A run whose loss is `factor` (STEPS,) times that of a healthy one."""
    losses = noisy(np.random.default_rng(seed), course(T)) * factor
    return list(enumerate(losses.tolist(), 1))


DIVERGING = faulty(1 + np.clip(T - 0.5, 0, None))
SPIKE = faulty(1 + 0.3 * ((T > 0.5) & (T < 0.52)))
NAN = float("nan")


def lines(points: Iterable[tuple[int, float]]) -> str:
    """The log of losses at steps."""
    return "".join(f"iter {step}: loss {loss:.5f}, time 10.00ms, mfu 40.00%\n" for step, loss in points)


def write(path: Path, points: Iterable[tuple[int, float]]) -> Path:
    """Write the log."""
    path.write_text(lines(points))
    return path
