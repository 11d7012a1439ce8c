import math

import pytest

from scaling_collapse.corpus.held_out import bits_per_byte


def test_bits_per_byte_of_a_fair_coin_and_of_uniform_bytes():
    assert bits_per_byte(math.log(256), 1.0) == pytest.approx(8)
    assert bits_per_byte(math.log(2), 4.0) == pytest.approx(0.25)
