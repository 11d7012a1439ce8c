"""Random text with a known floor: a Zipfian context tree.

The last token decides how long the context is: 1 ... depth tokens, never reaching beyond an end-of-text token. A hash
of the context selects one of `rows` rows of K different successors. A fixed weight vector w, the same for every
context, draws the successor. So, whatever the past, the next token's entropy is exactly H(w): the irreducible loss.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from scaling_collapse.config.corpus import ContextTree
from scaling_collapse.corpus.permutation import IntArray, UintArray, hash_integers, mix
from scaling_collapse.errors import CorpusError

END_OF_TEXT = 0
DRAW_BITS = 16  # successors are drawn with probabilities that are multiples of 2^-16, so that H(w) is exact
DOCUMENT_TOKENS = 256  # end-of-text gets about the popularity 1/256
STRETCH_TOKENS = 4096  # least length of a stretch
_STRETCHES = 2048  # drawn together: enough for full speed, few enough for memory
_PATIENCE = 1 << 18  # give up if a stretch is still without end-of-text so many tokens later
_MULTIPLIER = 6364136223846793005  # Knuth's MMIX multiplier: odd, so its powers are units modulo 2^64
_GOLDEN = 0x9E3779B97F4A7C15  # SplitMix64's increment (Steele et al. 2014)
_MASK = (1 << 64) - 1

FloatArray = npt.NDArray[np.float64]
TokenArray = npt.NDArray[np.unsignedinteger]


def zipf_counts(successors: int, exponent: float) -> IntArray:
    """Weights w_k proportional to k^-exponent, in units of 2^-16, each at least one unit; the first takes the rest."""
    weights = np.arange(1, successors + 1, dtype=np.float64) ** -exponent
    counts: IntArray = np.maximum(np.floor(weights / weights.sum() * 2**DRAW_BITS).astype(np.int64), 1)
    counts[0] += 2**DRAW_BITS - counts.sum()
    return counts


def entropy(counts: IntArray) -> float:
    """H(w) in nats of weights given as counts."""
    weights = [count / sum(counts.tolist()) for count in counts.tolist()]
    return -math.fsum(weight * math.log(weight) for weight in weights)


def popularity(vocabulary: int, successors: int) -> FloatArray:
    """Share of each token among the rows' entries: Zipf-Mandelbrot, p proportional to 1/(rank + q).

    q is the smallest for which no share exceeds 1/K: then systematic sampling fills a row with K different tokens.
    """
    ranks = np.arange(1, vocabulary + 1)
    low, high = 0.0, 1.0

    def largest(q: float) -> float:
        return float(1 / (1 + q) / (1 / (ranks + q)).sum())

    while largest(high) * successors > 1:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if largest(middle) * successors > 1 else (low, middle)
    shares = 1 / (ranks + high)
    shares /= shares.sum()
    # Token 0, end-of-text, changes places with the token whose share is nearest to one a document.
    nearest = int(np.argmin(np.abs(np.log(shares * DOCUMENT_TOKENS))))
    shares[[END_OF_TEXT, nearest]] = shares[[nearest, END_OF_TEXT]]
    return shares


def context_lengths(shares: FloatArray, depth: int, decay: float) -> IntArray:
    """Context length of each token, so that length d has a share of the text near to decay^(d-1), normalised."""
    wanted = decay ** np.arange(depth)
    wanted /= wanted.sum()
    lengths = np.ones(len(shares), np.int64)
    wanted[0] -= shares[END_OF_TEXT]  # contexts never reach beyond it, so its own is itself alone
    for token in np.argsort(-shares, kind="stable").tolist():
        if token != END_OF_TEXT:
            lengths[token] = 1 + int(np.argmax(wanted))
            wanted[lengths[token] - 1] -= shares[token]
    return lengths


@dataclass(frozen=True)
class Tree:
    """The tables of a source; everything follows from settings and vocabulary."""

    settings: ContextTree
    vocabulary: int

    @cached_property
    def counts(self) -> IntArray:
        """Weights w in units of 2^-16, (K,)."""
        return zipf_counts(self.settings.successors, self.settings.zipf_exponent)

    @property
    def dtype(self) -> np.dtype[np.unsignedinteger]:
        """Little-endian type of the tokens."""
        return np.dtype("<u2" if self.vocabulary <= 1 << 16 else "<u4")

    @property
    def floor_nats(self) -> float:
        """H(w): the irreducible loss [nats/token]."""
        return entropy(self.counts)

    @cached_property
    def lengths(self) -> IntArray:
        """Context length by last token, (V,)."""
        shares = popularity(self.vocabulary, self.settings.successors)
        return context_lengths(shares, self.settings.depth, self.settings.depth_decay)

    @cached_property
    def codes(self) -> UintArray:
        """A random 64-bit code by token, (V,); contexts are hashed by summing codes times powers of a multiplier."""
        return mix(
            np.arange(self.vocabulary, dtype=np.uint64) * np.uint64(_GOLDEN) + np.uint64(hash_integers(self._seed, 1))
        )

    @cached_property
    def successors(self) -> TokenArray:
        """Rows of K different tokens in random order, (rows, K), by systematic sampling (Madow 1949)."""
        rows, K = self.settings.rows, self.settings.successors
        numbers = np.arange(rows * (K + 1), dtype=np.uint64)
        keys = mix(numbers * np.uint64(_GOLDEN) + np.uint64(hash_integers(self._seed, 2)))
        cumulative = np.cumsum(popularity(self.vocabulary, K))
        first = (keys[:rows] >> np.uint64(11)) * 2.0**-53
        points = (first[:, None] + np.arange(K)) / K
        tokens = np.minimum(np.searchsorted(cumulative, points, side="right"), self.vocabulary - 1)
        order = np.argsort(keys[rows:].reshape(rows, K), axis=1)
        return np.take_along_axis(tokens, order, axis=1).astype(self.dtype)

    @property
    def _seed(self) -> int:
        return self.settings.seed


def draw_stretches(tree: Tree, first: int, count: int, held_out: bool = False) -> tuple[TokenArray, IntArray]:
    """Draw stretches first .. first + count - 1; return their tokens, one after the other, and their lengths.

    Stretch i is a pure function of (settings, vocabulary, i). It starts after an end-of-text and stops with the first
    end-of-text at or after STRETCH_TOKENS tokens. As contexts never reach beyond end-of-text, stretches joined together
    have the law of one endless text: nowhere, not even at the joints, does the floor change.

    Raises CorpusError if a stretch does not stop, which can happen in trees of very few rows.
    """
    numbers = np.arange(first, first + count, dtype=np.uint64)
    walk = _Walk(
        tree, mix(numbers * np.uint64(_GOLDEN) + np.uint64(hash_integers(tree.settings.seed, 4 if held_out else 3)))
    )
    main = np.stack([walk.step() for _ in range(STRETCH_TOKENS)])
    tail, active = [], np.flatnonzero(main[-1] != END_OF_TEXT)
    walk.keep(active)
    while len(active):
        row = np.full(count, END_OF_TEXT, tree.dtype)
        row[active] = tokens = walk.step()
        tail.append(row)
        going = np.flatnonzero(tokens != END_OF_TEXT)
        if len(going) < len(active):
            walk.keep(going)
            active = active[going]
        if len(tail) > _PATIENCE:
            raise CorpusError("corpus.source context_tree", "the text never ends", "use more rows or another seed")
    tokens_SC = np.concatenate([main, np.array(tail, tree.dtype).reshape(-1, count)])
    lengths = STRETCH_TOKENS + (tokens_SC[STRETCH_TOKENS - 1 :] != END_OF_TEXT).sum(axis=0)
    inside = np.arange(len(tokens_SC)) < lengths[:, None]
    return tokens_SC.T[inside], lengths


def draw_text(tree: Tree, tokens: int, held_out: bool = False) -> Iterator[TokenArray]:
    """Yield the first `tokens` tokens of a tree's endless training or held-out text, a few million at a time."""
    first = 0
    while tokens > 0:
        count = min(_STRETCHES, -(-tokens // STRETCH_TOKENS))
        drawn = draw_stretches(tree, first, count, held_out)[0][:tokens]
        yield drawn
        first, tokens = first + count, tokens - len(drawn)


class _Walk:
    """Many stretches advanced together, one token at a step."""

    def __init__(self, tree: Tree, keys: UintArray) -> None:
        settings, n = tree.settings, len(keys)
        self.tree, self.keys, self.time = tree, keys, 0
        self.rank_of_draw = np.repeat(np.arange(settings.successors, dtype=np.uint8), tree.counts)
        self.powers = np.array([pow(_MULTIPLIER, k, 1 << 64) for k in range(settings.depth + 1)], np.uint64)
        self.shift = np.uint64(64 - (settings.rows.bit_length() - 1))
        self.flat = tree.successors.reshape(-1)
        self.tokens = np.full(n, END_OF_TEXT, tree.dtype)  # as if an end-of-text had just been written
        self.age = np.zeros(n, np.int64)  # tokens since the last end-of-text, itself included
        # sums[t] = sum over j of multiplier^(j+1) * code(token t-j), for the last steps: a ring of 2^m > depth places
        self.sums = np.zeros((1 << settings.depth.bit_length(), n), np.uint64)
        self.lanes = np.arange(n)
        self.draws: npt.NDArray[np.uint16] = np.empty((n, 4), np.uint16)  # random numbers of four steps

    def keep(self, lanes: IntArray) -> None:
        """Go on with these stretches only."""
        self.keys, self.tokens, self.age = self.keys[lanes], self.tokens[lanes], self.age[lanes]
        self.sums, self.lanes, self.draws = self.sums[:, lanes], np.arange(len(lanes)), self.draws[lanes]

    def _rows(self) -> IntArray:
        """Row of each stretch's context: the hash of its last tokens, as many as the last token asks for."""
        ring, now = len(self.sums) - 1, self.time & (len(self.sums) - 1)
        total = np.multiply(self.sums[now - 1] + self.tree.codes.take(self.tokens), self.powers[1], out=self.sums[now])
        self.age = self.age * (self.tokens != END_OF_TEXT) + 1
        length = np.minimum(self.tree.lengths.take(self.tokens), self.age)
        before = self.sums.reshape(-1).take(((now - length) & ring) * len(self.lanes) + self.lanes)
        rows: IntArray = ((total - self.powers.take(length) * before) >> self.shift).view(np.int64)
        return rows

    def step(self) -> TokenArray:
        """Draw the next token of each stretch."""
        part = self.time % 4
        if part == 0:
            random = mix(self.keys + np.uint64(self.time // 4 * _GOLDEN & _MASK))
            self.draws = random.astype("<u8").view("<u2").reshape(-1, 4)
        rank = self.rank_of_draw.take(self.draws[:, part])
        self.tokens = self.flat.take(self._rows() * self.tree.settings.successors + rank)
        self.time += 1
        return self.tokens
