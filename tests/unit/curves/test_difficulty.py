from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from scaling_collapse.corpus.sampler import Sampler
from scaling_collapse.curves.difficulty import PSEUDO_COUNTS, BigramModel, adjusted_loss
from tests.unit.curves.support import shape

VOCABULARY = 12
TOKENS = np.random.default_rng(0).integers(0, VOCABULARY, 800).astype("<u2") % 7


def brute_force_loss(tokens):
    """Mean smoothed bigram loss of a sequence, by counting."""
    pairs = list(pairwise(TOKENS.tolist()))
    total = 0.0
    for first, second in pairwise(tokens):
        unigram = (sum(b == second for _, b in pairs) + 1) / (len(pairs) + VOCABULARY)
        count = sum(pair == (first, second) for pair in pairs)
        context = sum(a == first for a, _ in pairs)
        total -= np.log((count + PSEUDO_COUNTS * unigram) / (context + PSEUDO_COUNTS))
    return total / (len(tokens) - 1)


def test_difficulty_is_the_bigram_loss_by_hand():
    model, sampler = BigramModel(TOKENS, VOCABULARY), Sampler(TOKENS, 8, seed=1)
    difficulty = model.batch_difficulty(sampler, batch_sequences=2, steps=5)
    by_hand = np.mean([brute_force_loss(sequence.tolist()) for sequence in sampler.batch(4, 2)])
    assert difficulty[2] + model.mean_loss == pytest.approx(by_hand)
    assert model.mean_loss == pytest.approx(brute_force_loss(TOKENS.tolist()))


def test_every_context_is_a_distribution():
    assert np.exp(-BigramModel(TOKENS, VOCABULARY).loss_VV).sum(axis=1) == pytest.approx(np.ones(VOCABULARY))


def test_mean_over_an_epoch_is_zero():
    model, sampler = BigramModel(TOKENS, VOCABULARY), Sampler(TOKENS, 8, seed=1)
    difficulty = model.batch_difficulty(sampler, batch_sequences=1, steps=sampler.windows)
    assert abs(difficulty.mean()) < 0.02 * difficulty.std()


def test_pieces_of_the_count_join(monkeypatch):
    whole = BigramModel(TOKENS, VOCABULARY).loss_VV
    monkeypatch.setattr("scaling_collapse.curves.difficulty._TOKENS_AT_ONCE", 37)
    assert (BigramModel(TOKENS, VOCABULARY).loss_VV == whole).all()


def test_adjustment_takes_out_what_the_text_explains_and_keeps_the_curve():
    rng, t_hat = np.random.default_rng(2), np.arange(1, 3001) / 3000
    difficulty = rng.normal(0, 0.1, 3000)
    truth = 3 * shape(t_hat)
    loss = truth + 1.1 * difficulty + rng.normal(0, 0.03, 3000)
    left = adjusted_loss(loss, difficulty) - truth
    assert left[300:].std() == pytest.approx(0.03, rel=0.05)
    assert left.mean() == pytest.approx(0, abs=0.003)


def test_without_difficulty_the_loss_is_as_it_was():
    loss = np.linspace(4, 3, 100)
    assert adjusted_loss(loss, None) is loss
    assert adjusted_loss(loss, np.zeros(100)) is loss
