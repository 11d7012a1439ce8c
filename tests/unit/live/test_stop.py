"""Which alarms end a training."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scaling_collapse.errors import ConfigError
from scaling_collapse.live.stop import LASTING, ends_training, stopping_kinds
from tests.unit.live.test_words import DRIFT, RESET, SPIKE


def test_false_is_none_true_is_what_stays_and_names_are_names() -> None:
    assert stopping_kinds(False) == frozenset()
    assert stopping_kinds(True) == frozenset(LASTING)
    assert stopping_kinds(["spike"]) == stopping_kinds("spike") == {"spike"}
    with pytest.raises(ConfigError, match="no alarm 'spikes'"):
        stopping_kinds(["drift", "spikes"])


def test_what_is_over_or_of_another_kind_ends_nothing() -> None:
    kinds = stopping_kinds(True)
    assert ends_training(DRIFT, kinds)
    assert not ends_training(replace(DRIFT, recovered=True), kinds)
    assert not ends_training(replace(SPIKE, recovered=False), kinds)
    assert not ends_training(RESET, kinds)
    assert not ends_training(DRIFT, stopping_kinds(False))
