"""Held-out evaluation: which sequences, how often, and in which unit."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from scaling_collapse.corpus.held_out import bits_per_byte
from scaling_collapse.corpus.open import open_corpus
from scaling_collapse.errors import RunError
from scaling_collapse.model.decoder import Decoder
from scaling_collapse.train.held_out import HeldOut, validation_steps
from scaling_collapse.train.world import World

from .train_room import tiny_run, write_corpus


def test_windows_do_not_overlap_and_spread_evenly() -> None:
    held_out = HeldOut(np.arange(1001), sequence_length=10, count=4)
    assert held_out.batch(0, 4)[:, 0].tolist() == [0, 250, 500, 750]
    assert held_out.batch(1, 2)[0].tolist() == list(range(250, 261))


def test_all_windows_are_used_where_there_are_fewer() -> None:
    held_out = HeldOut(np.arange(101), sequence_length=10, count=64)
    assert held_out.count == 10
    assert held_out.batch(9, 1)[0, -1] == 100


def test_too_few_tokens_are_an_error_before_training() -> None:
    with pytest.raises(RunError, match="held-out split has 10 tokens, fewer than one sequence of 11"):
        HeldOut(np.arange(10), sequence_length=10, count=1)


@pytest.mark.parametrize("batch", [1, 7, 50])
def test_loss_is_the_mean_over_all_tokens_whatever_the_batch(tmp_path: Path, batch: int) -> None:
    run, corpus = tiny_run(), open_corpus(write_corpus(tmp_path).corpus)
    decoder = Decoder(run.model, run.parameterisation)
    decoder.initialise(3)
    held_out = HeldOut(corpus.held_out, run.model.sequence_length, 50)
    tokens = torch.from_numpy(held_out.batch(0, 50))
    log_p = decoder.logits(tokens[:, :-1]).double().log_softmax(-1)
    expected = -log_p.gather(-1, tokens[:, 1:, None]).mean().item()
    assert held_out.loss(decoder, "cpu", batch, World()) == pytest.approx(expected, rel=1e-6)


def test_bits_per_byte_of_a_uniform_byte_is_eight() -> None:
    assert bits_per_byte(math.log(256), bytes_per_token=1.0) == pytest.approx(8.0)
    assert bits_per_byte(math.log(256), bytes_per_token=4.0) == pytest.approx(2.0)


def test_validation_at_every_five_percent() -> None:
    assert sorted(validation_steps(1000, 20)) == list(range(50, 1001, 50))
    assert sorted(validation_steps(7, 2)) == [4, 7]


@given(steps=st.integers(1, 5000), validations=st.integers(1, 100))
def test_validation_points_are_evenly_spaced_and_the_last_is_the_end(steps: int, validations: int) -> None:
    points = sorted(validation_steps(steps, validations))
    assert points[-1] == steps
    assert points[0] >= 1
    assert len(points) == min(steps, validations)
    gaps = np.diff([0, *points])
    assert gaps.max() - gaps.min() <= 1
