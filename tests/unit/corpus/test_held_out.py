import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaling_collapse.corpus.held_out import bits_per_byte, held_out_sequences
from scaling_collapse.errors import CorpusError


@given(st.integers(1, 40), st.integers(1, 50), st.integers(0, 1000))
def test_windows_are_fixed_even_and_apart(length, count, spare):
    tokens = np.arange(length * count + 1 + spare, dtype=np.uint16)
    windows = held_out_sequences(tokens, length, count)
    assert windows.shape == (count, length + 1)
    assert np.array_equal(windows, held_out_sequences(tokens, length, count))
    starts = windows[:, 0]
    assert np.array_equal(windows, starts[:, None] + np.arange(length + 1))
    assert (np.diff(starts) >= length).all()
    assert starts[0] == 0
    if count > 1:
        assert windows[-1, -1] == len(tokens) - 1
        assert np.ptp(np.diff(starts)) <= 1


def test_more_windows_than_the_split_holds():
    with pytest.raises(CorpusError, match="11 sequences of 10 tokens were asked for, 101 tokens hold 10"):
        held_out_sequences(np.arange(101, dtype=np.uint16), 10, 11)
    with pytest.raises(CorpusError, match="0 tokens hold 0"):
        held_out_sequences(np.zeros(0, np.uint16), 10, 1)


def test_bits_per_byte_of_a_fair_coin_and_of_uniform_bytes():
    assert bits_per_byte(math.log(256), 1.0) == pytest.approx(8)
    assert bits_per_byte(math.log(2), 4.0) == pytest.approx(0.25)
