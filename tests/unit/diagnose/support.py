"""Simulated runs with known truths, and where the public curves are."""

from __future__ import annotations

from pathlib import Path

import numpy as np

PUBLIC = Path(__file__).parents[4] / "shared" / "curves"  # real public curves, where this checkout has them

STEPS = 2000
T = np.arange(1, STEPS + 1) / STEPS


def course(t: np.ndarray = T, warmup: float = 0.1) -> np.ndarray:
    """Loss [nats] of a run whose learning rate falls to zero after warm-up (the surrogate's form, Eq. 4)."""
    eta = np.minimum(1, (1 - t) / (1 - warmup))
    return np.asarray(2.7 * (1.001 / (t + 0.001)) ** 0.05 + 0.35 * (eta + 0.1))


def noisy(rng: np.random.Generator, truth: np.ndarray, noise: float = 0.014, walk: float = 0.0035) -> np.ndarray:
    """Add the noise of one step and a walk per sqrt(training), halved as two runs share a difference."""
    steps = rng.standard_normal(len(truth)) * walk / np.sqrt(2 * len(truth))
    return np.asarray(truth * np.exp(np.cumsum(steps) + noise * rng.standard_normal(len(truth))))


def after(t: np.ndarray, begin: float, size: float, power: float = 1.0) -> np.ndarray:
    """Return the factor of a fault that begins at `begin` and reaches `size` at the end, as (t - begin)^power."""
    x = np.clip((t - begin) / (1 - begin), 0, None)
    return np.asarray(1 + size * np.where(x > 0, x**power, 0.0))
