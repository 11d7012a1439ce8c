import math
from fractions import Fraction

import numpy as np
import pytest

from scaling_collapse.config.corpus import ContextTree
from scaling_collapse.corpus.sources import context_tree as module
from scaling_collapse.corpus.sources.context_tree import (
    END_OF_TEXT,
    STRETCH_TOKENS,
    Tree,
    draw_stretches,
    draw_text,
    entropy,
    zipf_counts,
)
from scaling_collapse.errors import CorpusError

SMALL = Tree(ContextTree(successors=4, rows=256, depth=4, seed=5), vocabulary=64)


def test_weights_are_zipfian_and_exact():
    counts = zipf_counts(8, 1.0)
    assert counts.sum() == 2**16
    harmonic = sum(Fraction(1, k) for k in range(1, 9))
    for k, count in enumerate(counts.tolist(), 1):
        assert count / 2**16 == pytest.approx(float(1 / (k * harmonic)), abs=8 / 2**16)


@pytest.mark.parametrize(
    ("counts", "expected"), [([1, 1], math.log(2)), ([4, 4, 4, 4], math.log(4)), ([3, 1], 0.5623351)]
)
def test_entropy_closed_form(counts, expected):
    assert entropy(np.array(counts)) == pytest.approx(expected, abs=1e-7)


def test_uniform_weights_have_entropy_ln_k():
    assert Tree(ContextTree(successors=8, zipf_exponent=0), 64).floor_nats == pytest.approx(math.log(8), abs=1e-9)


@pytest.mark.parametrize(
    ("vocabulary", "successors", "rows"), [(64, 4, 256), (1024, 8, 4096), (16, 8, 64), (300, 100, 128)]
)
def test_rows_hold_different_tokens(vocabulary, successors, rows):
    table = Tree(ContextTree(successors=successors, rows=rows), vocabulary).successors
    assert table.shape == (rows, successors)
    assert table.max() < vocabulary
    assert (np.diff(np.sort(table.astype(int), axis=1), axis=1) > 0).all()


def test_context_lengths_share_the_text_geometrically():
    tree = Tree(ContextTree(depth=4, depth_decay=0.5), 1024)
    shares = module.popularity(1024, 8)
    assert shares.sum() == pytest.approx(1)
    assert tree.lengths[END_OF_TEXT] == 1
    found = [shares[tree.lengths == length].sum() for length in range(1, 5)]
    assert found == pytest.approx(np.array([8, 4, 2, 1]) / 15, abs=0.03)


def plain_ranks(tree: Tree, tokens: list[int]) -> list[int]:
    """Which successor each token is, found with plain integers from the tokens before it, by the definition."""
    table, codes, ranks = tree.successors, [int(c) for c in tree.codes], []
    for t, token in enumerate(tokens):
        past = [END_OF_TEXT, *tokens[:t]][::-1]
        length = min(int(tree.lengths[past[0]]), past.index(END_OF_TEXT) + 1)
        total = sum(codes[past[j]] * pow(module._MULTIPLIER, j + 1) for j in range(length)) % 2**64
        row = total >> (64 - int(math.log2(tree.settings.rows)))
        ranks.append(table[row].tolist().index(token))  # ValueError if the token is not a successor
    return ranks


def test_every_token_follows_from_its_context_and_ranks_are_drawn_with_w():
    tokens, lengths = draw_stretches(SMALL, 0, 3)
    ranks = plain_ranks(SMALL, tokens.tolist())  # over the joints too
    assert len(tokens) == lengths.sum()
    expected = SMALL.counts / 2**16
    found = np.bincount(ranks, minlength=4) / len(ranks)
    assert found == pytest.approx(expected, abs=4 * math.sqrt(0.25 / len(ranks)))
    # Pearson's chi-squared for independence of successive ranks: 9 degrees of freedom, 0.9999 quantile 33.7.
    pairs = np.histogram2d(ranks[:-1], ranks[1:], bins=4)[0]
    wanted = np.outer(pairs.sum(1), pairs.sum(0)) / pairs.sum()
    assert ((pairs - wanted) ** 2 / wanted).sum() < 33.7


def test_loss_of_the_true_model_is_the_floor():
    tree = Tree(ContextTree(), 1024)
    tokens, _ = draw_stretches(tree, 0, 4)
    losses = -np.log(tree.counts / 2**16)[plain_ranks(tree, tokens[:6_000].tolist())]
    assert losses.mean() == pytest.approx(tree.floor_nats, abs=4 * losses.std() / math.sqrt(len(losses)))


def test_random_access_equals_bulk():
    bulk, lengths = draw_stretches(SMALL, 0, 9)
    ends = np.cumsum(lengths)
    for number in (0, 4, 8):
        alone, length = draw_stretches(SMALL, number, 1)
        assert length == lengths[number]
        assert np.array_equal(alone, bulk[ends[number] - length[0] : ends[number]])


def test_stretches_stop_with_the_first_end_of_text_after_their_least_length():
    tokens, lengths = draw_stretches(SMALL, 3, 5)
    assert (lengths >= STRETCH_TOKENS).all()
    for stretch in np.split(tokens, np.cumsum(lengths)[:-1]):
        tail = stretch[STRETCH_TOKENS - 1 :]
        assert tail[-1] == END_OF_TEXT
        assert (tail[:-1] != END_OF_TEXT).all()


def test_text_of_any_length_is_a_part_of_the_longer_one(monkeypatch):
    monkeypatch.setattr(module, "_STRETCHES", 2)
    long = np.concatenate(list(draw_text(SMALL, 30_000)))
    short = np.concatenate(list(draw_text(SMALL, 5_000)))
    assert (len(long), len(short)) == (30_000, 5_000)
    assert np.array_equal(long[:5_000], short)
    held_out = np.concatenate(list(draw_text(SMALL, 5_000, held_out=True)))
    assert not np.array_equal(held_out, short)


def test_seeds_differ_and_repeat():
    again = Tree(SMALL.settings, 64)
    other = Tree(SMALL.settings.model_copy(update={"seed": 6}), 64)
    tokens = draw_stretches(SMALL, 0, 1)[0][:1000]
    assert np.array_equal(tokens, draw_stretches(again, 0, 1)[0][:1000])
    assert not np.array_equal(tokens, draw_stretches(other, 0, 1)[0][:1000])


def test_tree_that_never_ends_a_text(monkeypatch):
    tree = Tree(ContextTree(successors=2, rows=2, depth=1), 64)
    tree.successors[:] = [[1, 2], [2, 1]]
    monkeypatch.setattr(module, "_PATIENCE", 100)
    with pytest.raises(CorpusError, match="the text never ends"):
        draw_stretches(tree, 0, 1)
