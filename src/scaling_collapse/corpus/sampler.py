"""Which tokens a run sees, and when."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scaling_collapse.corpus.permutation import IntArray, hash_integers, permute
from scaling_collapse.errors import CorpusError

_BLOCK = 4096  # places of the visiting order that are computed together


class Sampler:
    """Training sequences by number: sequence i is a pure function of (tokens, sequence_length, seed, i).

    Batch size, workers and resumption therefore cannot change what sequence i is. Each epoch cuts the corpus, from an
    offset that depends on seed and epoch, into windows of S tokens, and visits all of them once in pseudo-random order.
    A sequence has S + 1 tokens: the last one, a target only, is also the next window's first input.
    """

    def __init__(
        self, tokens: npt.NDArray[np.unsignedinteger], sequence_length: int, seed: int, max_epochs: int = 1
    ) -> None:
        """Raise CorpusError if the corpus does not hold one sequence for every offset.

        tokens: 1-D, usually a memory map. sequence_length: S [tokens].
        """
        self.windows = (len(tokens) - sequence_length) // sequence_length
        """Sequences in one epoch."""
        if self.windows < 1:
            raise CorpusError(
                "corpus",
                f"{len(tokens)} tokens are too few for sequences of {sequence_length}",
                f"use a corpus of at least {2 * sequence_length} tokens or shorter sequences",
            )
        self.sequence_length, self.seed, self.max_epochs = sequence_length, seed, max_epochs
        self._tokens = np.asarray(tokens)  # a view: memory maps stay on disk, but index faster as plain arrays
        self._reach = np.arange(sequence_length + 1)
        self._block_number = -1
        self._block_starts: IntArray = np.empty(0, np.int64)

    def __len__(self) -> int:
        """Number of sequences: windows * max_epochs."""
        return self.windows * self.max_epochs

    def epoch(self, i: int) -> int:
        """Epoch of sequence i, from 0."""
        return i // self.windows

    def _starts_of_epoch(self, epoch: int, places: IntArray) -> IntArray:
        offset = hash_integers(self.seed, epoch, 0) % self.sequence_length
        order = permute(places, self.windows, hash_integers(self.seed, epoch, 1))
        return offset + order * self.sequence_length

    def _starts_of_block(self, block: int) -> IntArray:
        """First tokens of sequences block * _BLOCK and following."""
        if block != self._block_number:
            numbers = np.arange(block * _BLOCK, min((block + 1) * _BLOCK, len(self)))
            epochs, places = np.divmod(numbers, self.windows)
            parts = [self._starts_of_epoch(epoch, places[epochs == epoch]) for epoch in np.unique(epochs).tolist()]
            self._block_number, self._block_starts = block, np.concatenate(parts)
        return self._block_starts

    def starts(self, first: int, count: int) -> IntArray:
        """Positions in the corpus of the first tokens of sequences first .. first + count - 1.

        Raises CorpusError for sequences beyond the epochs allowed.
        """
        if first < 0 or count < 0 or first + count > len(self):
            raise CorpusError(
                "corpus",
                f"sequences {first} to {first + count - 1} were asked for, but {self.max_epochs} epoch(s) of "
                f"{self.windows} windows of {self.sequence_length} tokens hold {len(self)}",
                "train on fewer tokens, allow more epochs (corpus.max_epochs, at most 4) or use a larger corpus",
            )
        begin, end = first // _BLOCK, (first + count - 1) // _BLOCK
        parts = [self._starts_of_block(block) for block in range(begin, end + 1)]
        starts = parts[0] if len(parts) == 1 else np.concatenate([*parts, np.empty(0, np.int64)])
        return starts[first - begin * _BLOCK :][:count]

    def batch(self, first: int, count: int) -> IntArray:
        """Sequences first .. first + count - 1 as (count, S + 1) integers: inputs [:, :-1], targets [:, 1:]."""
        sequences: IntArray = self._tokens[self.starts(first, count)[:, None] + self._reach].astype(np.int64)
        return sequences

    def sequence(self, i: int) -> IntArray:
        """Sequence i, S + 1 tokens."""
        row: IntArray = self.batch(i, 1)[0]
        return row
