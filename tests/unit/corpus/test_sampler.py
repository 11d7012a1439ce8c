import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaling_collapse.corpus.permutation import permute
from scaling_collapse.corpus.sampler import Sampler
from scaling_collapse.errors import CorpusError

TOKENS = np.arange(20_011, dtype=np.uint16)  # each token tells its position


@settings(deadline=None)
@given(st.integers(1, 3000), st.integers(0, 2**63))
def test_permutation_is_one_to_one(n, key):
    assert np.array_equal(np.sort(permute(np.arange(n), n, key)), np.arange(n))


@given(st.integers(1, 2**45), st.integers(0, 2**63), st.lists(st.integers(0, 2**45), min_size=1, max_size=20))
def test_permutation_can_be_evaluated_anywhere(n, key, numbers):
    index = np.array([number % n for number in numbers])
    together = permute(index, n, key)
    assert together.tolist() == [int(permute(index[i : i + 1], n, key)[0]) for i in range(len(index))]
    assert ((together >= 0) & (together < n)).all()


def test_permutation_looks_random():
    order = permute(np.arange(100_000), 100_000, 7)
    assert abs(np.corrcoef(order[:-1], order[1:])[0, 1]) < 0.015  # sd 0.003
    assert abs(np.corrcoef(order, np.arange(100_000))[0, 1]) < 0.015
    assert abs((order == permute(np.arange(100_000), 100_000, 8)).sum() - 1) < 8  # Poisson with mean 1


@settings(deadline=None)
@given(st.integers(0, 100), st.integers(1, 3), st.lists(st.integers(1, 60), min_size=1, max_size=30))
def test_sequences_do_not_depend_on_the_batch_size(seed, epochs, batch_sizes):
    sampler, single = Sampler(TOKENS, 64, seed, epochs), Sampler(TOKENS, 64, seed, epochs)
    first = 0
    for size in batch_sizes:
        size = min(size, len(sampler) - first)
        batch = sampler.batch(first, size)
        assert batch.shape == (size, 65)
        for row in (0, size - 1)[: size and 2]:
            assert np.array_equal(batch[row], single.sequence(first + row))
        first += size


def test_batches_cross_blocks_and_epochs():
    tokens = np.arange(60_000, dtype=np.uint32)
    sampler = Sampler(tokens, 4, 3, 2)
    assert sampler.windows > 3 * 4096
    together = sampler.batch(0, len(sampler))
    fresh = np.concatenate([Sampler(tokens, 4, 3, 2).batch(i, 999) for i in range(4000, 16_000, 999)])
    assert np.array_equal(together[4000 : 4000 + len(fresh)], fresh)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 1000), st.integers(1, 300))
def test_an_epoch_sees_each_token_at_most_once_as_input_and_nearly_all(seed, length):
    sampler = Sampler(TOKENS, length, seed, 2)
    for epoch in range(2):
        inputs = sampler.batch(epoch * sampler.windows, sampler.windows)[:, :-1].reshape(-1)
        assert len(np.unique(inputs)) == len(inputs) > len(TOKENS) - 2 * length
    assert [sampler.epoch(i) for i in (0, sampler.windows - 1, sampler.windows, len(sampler) - 1)] == [0, 0, 1, 1]


def test_epochs_and_seeds_differ():
    sampler = Sampler(TOKENS, 64, 0, 2)
    first, second = sampler.starts(0, sampler.windows), sampler.starts(sampler.windows, sampler.windows)
    assert (first == second).mean() < 0.1
    assert (first == Sampler(TOKENS, 64, 1).starts(0, sampler.windows)).mean() < 0.1


def test_order_is_fixed_for_ever():
    """Printed once; a change here changes every run's data."""
    assert Sampler(TOKENS, 64, 0, 2).starts(0, 5).tolist() == ORDER


ORDER = [11803, 19227, 3483, 6811, 155]


@settings(deadline=None)
@given(st.integers(1, 50), st.integers(2, 400), st.integers(0, 20))
def test_every_window_lies_inside_the_corpus(length, tokens, seed):
    if tokens < 2 * length:
        with pytest.raises(CorpusError, match="too few"):
            Sampler(TOKENS[:tokens], length, seed)
    else:
        sampler = Sampler(TOKENS[:tokens], length, seed, 4)
        batch = sampler.batch(0, len(sampler))
        assert np.array_equal(batch - batch[:, :1], np.broadcast_to(np.arange(length + 1), batch.shape))


@pytest.mark.parametrize(("first", "count"), [(0, 623), (622, 1), (-1, 1), (10**12, 8)])
def test_beyond_the_epochs_allowed(first, count):
    with pytest.raises(CorpusError, match=r"2 epoch\(s\) of 311 windows of 64 tokens hold 622"):
        Sampler(TOKENS, 64, 0, 2).batch(first, count)


def test_small_batches_are_cheap():
    import timeit

    sampler = Sampler(TOKENS, 128, 0, 4)
    seconds = min(timeit.repeat(lambda: sampler.batch(100, 8), number=200, repeat=5)) / 200
    assert seconds < 500e-6  # about 15e-6 on a quiet machine
