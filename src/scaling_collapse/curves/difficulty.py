"""How hard each training batch is, measured on its text alone, to take that part of the noise out of a training loss.

A batch of a few sequences differs in loss from the average text by a few percent, mostly because its text is easier
or harder, and a bigram model of the corpus knows by how much. Its loss on the batch, minus its loss on the whole
corpus, is a control variate: its mean over training is zero, so subtracting any fixed multiple of it changes the
expected loss nowhere, and the multiple of least squares removes most of the noise (docs/lab-notebook.md). Models,
sizes and recipes do not enter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scaling_collapse.curves.smooth import AUTOMATIC

if TYPE_CHECKING:
    from scaling_collapse.corpus.sampler import Sampler

#: Largest vocabulary for which the dense table of bigrams (V*V float64) is made: 128 MB.
MAX_VOCABULARY = 4096

#: Pseudo-counts, spread as the unigrams are, that each context gets.
PSEUDO_COUNTS = 20.0

#: Sequences and tokens that are looked up at once.
_SEQUENCES_AT_ONCE = 4096
_TOKENS_AT_ONCE = 1 << 22

#: The coefficient is fitted after this fraction of training: before, models have not learnt bigrams yet.
_FIT_FROM = 0.1


class BigramModel:
    """Smoothed bigram model of a corpus: `loss_VV` [nats] of the next token (second index) after a token (first)."""

    def __init__(self, tokens: np.ndarray, vocabulary: int) -> None:
        """Count the bigrams of `tokens` (1-D integers below `vocabulary`), usually a memory map, in pieces."""
        counts = np.zeros(vocabulary * vocabulary)
        for start in range(0, len(tokens) - 1, _TOKENS_AT_ONCE):
            piece = np.asarray(tokens[start : start + _TOKENS_AT_ONCE + 1]).astype(np.int64)
            counts += np.bincount(piece[:-1] * vocabulary + piece[1:], minlength=len(counts))
        counts_VV = counts.reshape(vocabulary, vocabulary)
        unigram = counts_VV.sum(axis=0) + 1
        prior = PSEUDO_COUNTS * unigram / unigram.sum()
        self.loss_VV = -np.log((counts_VV + prior) / (counts_VV.sum(axis=1, keepdims=True) + PSEUDO_COUNTS))
        self.mean_loss = float((counts_VV * self.loss_VV).sum() / counts_VV.sum())

    def batch_difficulty(self, sampler: Sampler, batch_sequences: int, steps: int) -> np.ndarray:
        """Return the loss on each of a run's batches minus that on the corpus [nats], shape (steps,)."""
        losses = np.empty(batch_sequences * steps)
        for start in range(0, len(losses), _SEQUENCES_AT_ONCE):
            sequences = sampler.batch(start, min(_SEQUENCES_AT_ONCE, len(losses) - start))
            losses[start : start + len(sequences)] = self.loss_VV[sequences[:, :-1], sequences[:, 1:]].mean(axis=1)
        return np.asarray(losses.reshape(steps, batch_sequences).mean(axis=1) - self.mean_loss)


def adjusted_loss(loss: np.ndarray, difficulty: np.ndarray | None) -> np.ndarray:
    """Return `loss` (n,) [nats] minus the part of its noise that the batches' `difficulty` (n,) [nats] explains.

    The coefficient is that of least squares of the loss's deviation from its smooth course on the difficulty. Without
    a difficulty, or with one that never varies, the loss is returned as it is.
    """
    if difficulty is None or len(loss) < 3:
        return loss
    fraction = np.arange(1, len(loss) + 1) / len(loss)
    both = np.stack([loss, difficulty])
    deviation, varying = (both - AUTOMATIC(both, fraction))[:, fraction > _FIT_FROM]
    square = float(varying @ varying)
    return loss if square == 0 else loss - float(deviation @ varying) / square * difficulty
