"""Every format by a made-up log of it; tests/unit/logs/samples.py names where each is documented."""

from __future__ import annotations

import math

import pytest

from scaling_collapse.logs.parser import DAMAGED
from scaling_collapse.logs.registry import FORMATS
from tests.unit.logs.samples import SAMPLES, TRAIN, modded_nanogpt
from tests.unit.logs.support import noted, points, read


@pytest.mark.parametrize("name", SAMPLES)
def test_the_format_is_recognised_and_all_losses_come_out(name, tmp_path):
    sample = SAMPLES[name]
    found = read(tmp_path, sample.text)
    assert [g.value for g in found.guesses if g.what == "format"] == [sample.format]
    assert points(found, "train") == sample.train
    assert points(found, "validation") == sample.validation
    assert noted(found, DAMAGED) == 0


@pytest.mark.parametrize("name", SAMPLES)
def test_a_named_format_reads_the_same(name, tmp_path):
    sample = SAMPLES[name]
    found = read(tmp_path, sample.text, format=sample.format)
    assert points(found, "train") == sample.train
    assert "format" not in {guess.what for guess in found.guesses}


@pytest.mark.parametrize("name", [name for name in SAMPLES if name != "trainer_state"])  # written at once, alone
def test_a_traceback_and_other_lines_around_change_nothing(name, tmp_path):
    sample = SAMPLES[name]
    noise = (
        'W1201 torchrun: setting\nTraceback (most recent call last):\n  File "train.py", line 3\nKeyboardInterrupt\n'
    )
    found = read(tmp_path, noise + sample.text + noise)
    assert points(found, "train") == sample.train
    assert points(found, "validation") == sample.validation


def test_newer_modded_nanogpt_has_validation_only(tmp_path):
    found = read(tmp_path, modded_nanogpt(train=False).text)
    assert {curve.split for curve in found.curves} == {"validation"}


def test_samples_cover_every_format_of_text():
    binary = {"tfevents", "wandb", "parquet"}
    assert {sample.format for sample in SAMPLES.values()} == set(FORMATS) - binary


def curve(found, split="train"):
    (one,) = [curve for curve in found.curves if curve.split == split]
    return one


def test_nanogpt_tells_the_batch(tmp_path):
    assert curve(read(tmp_path, SAMPLES["nanogpt"].text)).facts["batch_tokens"] == 491520


def test_llmc_has_learning_rates(tmp_path):
    lr = curve(read(tmp_path, SAMPLES["llmc_log"].text)).lr
    assert lr.tolist() == [round(0.0001 * step, 6) for step, _ in TRAIN]
    assert curve(read(tmp_path, SAMPLES["llmc_console"].text)).lr[0] == 3e-4


def test_deepspeed_rates_come_from_their_own_lines(tmp_path):
    lr = curve(read(tmp_path, SAMPLES["deepspeed"].text)).lr
    assert lr.tolist() == [1e-5 * step for step, _ in TRAIN]


def test_megatron_tells_tokens_and_arguments(tmp_path):
    found = curve(read(tmp_path, SAMPLES["megatron"].text))
    assert found.tokens.tolist() == [256 * 2048 * step for step, _ in TRAIN]
    expected = {"batch_tokens": 256 * 2048, "lr_peak": 3e-4, "seed": 1234, "weight_decay": 0.1}
    assert {name: found.facts[name] for name in expected} == expected
    assert found.lr[:2] == pytest.approx([1e-5, 2e-5])
    tokens = curve(read(tmp_path, SAMPLES["megatron_deepspeed"].text)).tokens
    assert tokens.tolist() == [65536 * step for step, _ in TRAIN]


def test_a_ramp_of_the_batch_leaves_it_unknown(tmp_path):
    text = SAMPLES["megatron"].text.replace("global batch size:   256", "global batch size:   128", 3)
    assert math.isnan(curve(read(tmp_path, text)).facts["batch_tokens"])


def test_megatron_validation_sets_are_columns(tmp_path):
    text = SAMPLES["megatron"].text
    for place in ("validation", "test"):
        text += f" validation loss at iteration 40 on {place} set | lm loss value: 5.5E+00 | lm loss PPL: 2.4E+02 | \n"
        text += f" validation loss at iteration 41 on {place} set | lm loss value: 5.4E+00 | lm loss PPL: 2.4E+02 | \n"
    assert points(read(tmp_path, text), "validation") == SAMPLES["megatron"].validation
    chosen = read(tmp_path, text, validation="validation on test set loss")
    assert points(chosen, "validation") == [(40, 5.5), (41, 5.4)]
    everything = read(tmp_path, text, all_losses=True)
    assert points(everything, "validation on validation set loss") == [(40, 5.5), (41, 5.4)]


def test_skipped_iterations_are_counted(tmp_path):
    text = SAMPLES["megatron"].text
    text += " iteration       41/      42 | consumed samples: 10496 | learning rate: 1.0E-04 | loss scale: 0.5 |\n"
    found = read(tmp_path, text)
    assert noted(found, "iterations without a loss (skipped ones)") == 1
    assert points(found) == TRAIN


def test_litgpt_validation_between_log_lines_finds_its_step(tmp_path):
    text = SAMPLES["litgpt"].text + "iter 164: val loss 4.0000, val time: 1.00 ms\n"
    assert points(read(tmp_path, text), "validation")[-1] == (41, 4.0)


@pytest.mark.parametrize("name", ["nanogpt", "llmc_log", "megatron", "torchtitan", "deepspeed", "litgpt"])
def test_a_line_of_the_format_that_cannot_be_read_is_counted(name, tmp_path):
    sample = SAMPLES[name]
    loss = dict(sample.train)[20]
    printed = next(word for word in (f"{loss:.6E}", f"{loss:.4f}", f"{loss:.3f}") if word in sample.text)
    for bad in (printed[:2] + "x" + printed[2:], "1_000", "--1"):
        found = read(tmp_path, sample.text.replace(printed, bad, 1))
        assert noted(found, DAMAGED) + noted(found, "iterations without a loss (skipped ones)") == 1, bad
        assert points(found) == [pair for pair in sample.train if pair[0] != 20]


@pytest.mark.parametrize("name", ["nanogpt", "llmc_log", "megatron", "torchtitan", "deepspeed", "litgpt"])
def test_a_cut_last_line_gives_no_cut_number(name, tmp_path):
    sample = SAMPLES[name]
    last = sample.text.rstrip("\n").rfind("\n") + 1
    for end in range(last, len(sample.text), 1 + (len(sample.text) - last) // 40):
        found = read(tmp_path, sample.text[:end])
        for split, expected in (("train", sample.train), ("validation", sample.validation)):
            assert set(points(found, split)) <= set(expected), sample.text[last:end]
