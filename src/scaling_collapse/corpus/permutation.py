"""A pseudo-random permutation of [0, n) that can be evaluated anywhere without storing it."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

ROUNDS = 6  # a Feistel network of 4 rounds is a strong pseudo-random permutation (Luby and Rackoff 1988)
_GOLDEN = 0x9E3779B97F4A7C15  # SplitMix64's increment (Steele et al. 2014)
_MASK = (1 << 64) - 1

UintArray = npt.NDArray[np.uint64]
IntArray = npt.NDArray[np.int64]


def mix(x: UintArray) -> UintArray:
    """Scramble 64-bit values, one to one (SplitMix64's finaliser)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def hash_integers(*values: int) -> int:
    """Hash small integers to 64 bits; the same on every machine."""
    state = np.zeros(1, np.uint64)
    for value in values:
        state = mix(state ^ np.uint64((value * _GOLDEN + 0x632BE59BD9B4E019) & _MASK))
    return int(state[0])


def permute(index: IntArray, n: int, key: int) -> IntArray:
    """Map indices in [0, n) to [0, n), one to one, by a Feistel network on pairs (left, right) below ceil(sqrt(n)).

    The network permutes [0, side^2); the few images beyond n are permuted again until they fall below it, which keeps
    the map one to one (cycle walking, Black and Rogaway 2002).
    """
    side = np.uint64(math.isqrt(n - 1) + 1)
    keys = [np.uint64(hash_integers(key, number)) for number in range(ROUNDS)]
    out = index.astype(np.uint64)
    pending = np.arange(len(out))
    while len(pending):
        left, right = np.divmod(out[pending], side)
        for round_key in keys:
            left, right = right, (left + mix(right * np.uint64(_GOLDEN) ^ round_key) % side) % side
        out[pending] = left * side + right
        pending = pending[out[pending] >= np.uint64(n)]
    return out.astype(np.int64)
