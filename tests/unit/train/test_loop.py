"""A whole run: outputs, resume, signals, divergence, and what is refused before it starts."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file

from scaling_collapse.corpus.held_out import bits_per_byte
from scaling_collapse.corpus.sampler import Sampler
from scaling_collapse.errors import CorpusError, RunError
from scaling_collapse.model.decoder import Decoder
from scaling_collapse.optim.schedules import learning_rates
from scaling_collapse.paths import Paths
from scaling_collapse.plan.run import Run
from scaling_collapse.train import loop
from scaling_collapse.train.checkpoint import newest_first
from scaling_collapse.train.execution import Execution
from scaling_collapse.train.job import Job
from scaling_collapse.train.lock import sole_owner
from scaling_collapse.train.loop import train_run
from scaling_collapse.train.outcome import COLUMNS
from scaling_collapse.train.step import FlatGradients
from scaling_collapse.train.stop import RunStoppedError

from .train_room import BYTES_PER_TOKEN, Listener, outputs, tiny_run, write_corpus


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return write_corpus(tmp_path)


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Outputs of the uninterrupted tiny run."""
    paths = write_corpus(tmp_path_factory.mktemp("reference"))
    train_run(tiny_run(), paths)
    return outputs(paths, tiny_run())


def summary(paths: Paths, run: Run) -> dict[str, Any]:
    return dict(json.loads((paths.run(run.run_id) / "run.json").read_text()))


def stop_at(step: int, signal_number: int = signal.SIGTERM) -> Listener:
    return Listener(lambda done: os.kill(os.getpid(), signal_number) if done == step else None)


def test_the_outputs_are_the_contracts(paths: Paths) -> None:
    run, heard = tiny_run(), Listener()
    train_run(run, paths, progress=heard)
    train = pd.read_parquet(paths.run(run.run_id) / "train.parquet")
    assert list(train) == ["step", "tokens", *COLUMNS["train"]]
    assert train.step.tolist() == heard.steps == list(range(1, 61))
    assert (train.tokens == 128 * train.step).all()
    np.testing.assert_array_equal(train.learning_rate, 0.01 * learning_rates(run.schedule, 60, 128))
    assert train.loss_nats.iloc[0] == pytest.approx(np.log(64), abs=0.3)  # starts near uniform guessing
    assert train.loss_nats.iloc[-5:].mean() < 3.3  # the chain's entropy is ln 4
    assert np.isfinite(train.to_numpy()).all()

    validation = pd.read_parquet(paths.run(run.run_id) / "validation.parquet")
    assert validation.step.tolist() == [10, 20, 30, 40, 50, 60]
    np.testing.assert_allclose(validation.bits_per_byte, bits_per_byte(validation.loss_nats, BYTES_PER_TOKEN))

    told = summary(paths, run)
    assert Run(**told["run"]) == run
    assert (told["status"], told["steps_done"], told["reason"]) == ("finished", 60, None)
    assert told["final_loss_nats"] == train.loss_nats.iloc[-1]
    assert told["final_validation_sequences"] == (4000 - 1) // 16
    assert told["final_validation_loss_nats"] == pytest.approx(validation.loss_nats.iloc[-1], rel=0.05)
    assert told["epochs"] == pytest.approx(60 * 8 / ((40_000 - 16) // 16))
    assert told["bytes_per_token"] == BYTES_PER_TOKEN
    assert heard.outcome is not None
    assert [path.name for path in paths.checkpoint(run.run_id).iterdir()] == ["lock"]


def test_the_weights_load_into_a_decoder_and_give_the_final_validation_loss(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tiny_run(steps=5)
    monkeypatch.setattr("scaling_collapse.train.job.FINAL_VALIDATION_SEQUENCES", 30)
    train_run(run, paths)
    decoder = Decoder(run.model, run.parameterisation)
    decoder.load_state_dict(load_file(paths.run(run.run_id) / "weights.safetensors"))
    tokens = np.fromfile(paths.corpus / "held_out.bin", "<u2").astype(np.int64)
    starts = [i * 249 // 30 * 16 for i in range(30)]
    batch = torch.from_numpy(np.stack([tokens[start : start + 17] for start in starts]))
    logits = decoder.logits(batch[:, :-1])
    expected = torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten()).item()
    assert summary(paths, run)["final_validation_loss_nats"] == pytest.approx(expected, rel=1e-6)


def test_sequence_j_of_step_s_is_sample_s_minus_1_times_b_plus_j(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    batch = Sampler.batch

    def spy(self: Sampler, first: int, count: int) -> Any:
        asked.extend(range(first, first + count))
        return batch(self, first, count)

    monkeypatch.setattr(Sampler, "batch", spy)
    train_run(tiny_run(steps=7), paths, Execution(micro_batch_sequences=3))
    assert asked == list(range(7 * 8))


@pytest.mark.parametrize(("signal_number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_checkpoints_and_the_resumed_run_has_the_same_bits(
    paths: Paths, reference: dict[str, bytes], signal_number: int, code: int
) -> None:
    handlers = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    for stop, first in ((7, 0), (30, 7), (31, 30)):
        heard = stop_at(stop, signal_number)
        with pytest.raises(RunStoppedError, match=f"after step {stop} of 60; checkpoint written") as raised:
            train_run(tiny_run(), paths, progress=heard)
        assert (heard.first_step, raised.value.exit_code) == (first, code)
        assert not paths.run("tiny-s0").exists()
    train_run(tiny_run(), paths)
    assert outputs(paths, tiny_run()) == reference
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == handlers


def test_frequent_checkpoints_change_no_bit(
    paths: Paths, reference: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "CHECKPOINT_SHARE", 0)
    train_run(tiny_run(), paths, Execution(checkpoint_seconds=0.0))
    assert outputs(paths, tiny_run()) == reference


def test_a_changed_specification_starts_afresh_but_another_group_or_execution_does_not(paths: Paths) -> None:
    with pytest.raises(RunStoppedError):
        train_run(tiny_run(), paths, progress=stop_at(7))
    same = Listener(lambda step: os.kill(os.getpid(), signal.SIGTERM))
    with pytest.raises(RunStoppedError):
        train_run(tiny_run(groups=("test", "more")), paths, Execution(micro_batch_sequences=2), same)
    assert (same.first_step, same.remarks) == (7, [])
    other = Listener()
    train_run(tiny_run(seed=1), paths, progress=other)
    assert other.first_step == 0
    assert "starts afresh: the run's specification changed" in other.remarks[0]


def test_a_finished_run_is_left_alone_until_its_specification_changes(paths: Paths) -> None:
    train_run(tiny_run(steps=3), paths)
    before = (paths.run("tiny-s0") / "run.json").stat().st_mtime_ns
    again, changed = Listener(), Listener()
    train_run(tiny_run(steps=3), paths, progress=again)
    assert (again.steps, (paths.run("tiny-s0") / "run.json").stat().st_mtime_ns) == ([], before)
    assert "is trained already" in again.remarks[0]
    train_run(tiny_run(steps=4), paths, progress=changed)
    assert changed.steps == [1, 2, 3, 4]


def test_runs_in_other_threads_train_too(paths: Paths, reference: dict[str, bytes]) -> None:
    thread = threading.Thread(target=train_run, args=(tiny_run(), paths))
    thread.start()
    thread.join()
    assert outputs(paths, tiny_run()) == reference


def test_not_a_number_ends_the_run_as_diverged_with_its_outputs(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    run, heard, measured = tiny_run(), Listener(), FlatGradients.loss_and_norm
    calls = iter(range(1, 100))
    monkeypatch.setattr(
        FlatGradients, "loss_and_norm", lambda self: (float("nan"), 1.0) if next(calls) == 15 else measured(self)
    )
    train_run(run, paths, progress=heard)
    told = summary(paths, run)
    assert (told["status"], told["steps_done"], told["reason"]) == ("diverged", 14, "the loss of step 15 is nan")
    train = pd.read_parquet(paths.run(run.run_id) / "train.parquet")
    assert train.step.tolist() == list(range(1, 15))
    assert told["final_loss_nats"] == train.loss_nats.iloc[-1]
    assert told["final_validation_loss_nats"] is not None  # the weights before the fault are kept, and are finite
    assert pd.read_parquet(paths.run(run.run_id) / "validation.parquet").step.tolist() == [10]
    assert (paths.run(run.run_id) / "weights.safetensors").exists()
    assert heard.remarks == ["diverged: the loss of step 15 is nan"]


def test_a_real_blow_up_ends_as_diverged(paths: Paths) -> None:
    optimizer = {"peak_lr": 30.0, "weight_decay": 0.0}
    run = tiny_run(optimizer=optimizer, schedule={"kind": "constant", "warmup_fraction": 0.0}, steps=200)
    train_run(run, paths)
    told = summary(paths, run)
    assert told["status"] == "diverged"
    assert told["steps_done"] < 200
    assert "not finite" in told["reason"] or "loss" in told["reason"]


def test_weights_that_only_the_last_update_spoilt_are_diverged_too(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    update = Job.update

    def spoil(self: Job, step: int, norm: float) -> None:
        update(self, step, norm)
        if step == 5:
            next(iter(self.decoder.parameters())).data.fill_(float("inf"))

    monkeypatch.setattr(Job, "update", spoil)
    train_run(tiny_run(steps=5), paths)
    told = summary(paths, tiny_run())
    assert (told["status"], told["final_validation_loss_nats"]) == ("diverged", None)
    assert "validation loss of step 5" in told["reason"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 400}, "needs 3200 sequences, but 1 epoch of the corpus holds 2499"),
        ({"model": {**tiny_run().model.model_dump(), "vocabulary": 63}}, "64 kinds of token, the model 63"),
        ({"steps": 1, "model": {**tiny_run().model.model_dump(), "sequence_length": 4096}}, "split has 4000 tokens"),
        ({"data": "elsewhere"}, "external data 'elsewhere'"),
    ],
)
def test_a_run_that_does_not_fit_is_refused_before_training(
    paths: Paths, changes: dict[str, Any], message: str
) -> None:
    heard = Listener()
    with pytest.raises(RunError, match=message):
        train_run(tiny_run(**changes), paths, progress=heard)
    assert heard.first_step == -1
    assert not paths.run("tiny-s0").exists()


def test_repeated_epochs_are_allowed_where_the_run_says_so_and_recorded(paths: Paths) -> None:
    run = tiny_run(steps=400, max_epochs=2, validations=1)
    train_run(run, paths)
    assert summary(paths, run)["epochs"] == pytest.approx(3200 / 2499)


def test_without_a_corpus_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="there is no corpus here"):
        train_run(tiny_run(), Paths("tiny", tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_second_process_is_refused(paths: Paths) -> None:
    message = rf"tiny-s0: process {os.getpid()} on .* is training this run now"
    with sole_owner(paths.checkpoint("tiny-s0"), "tiny-s0"), pytest.raises(RunError, match=message):
        train_run(tiny_run(), paths)
    train_run(tiny_run(steps=1), paths)


@pytest.mark.parametrize("what", ["checkpoint", "run"])
def test_a_folder_that_cannot_be_made_is_one_line_before_training(paths: Paths, what: str) -> None:
    folder: Path = getattr(paths, what)("tiny-s0")
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("a file in the way")
    heard = Listener()
    with pytest.raises(RunError, match=f"{folder}.*: cannot be written") as raised:
        train_run(tiny_run(steps=2), paths, progress=heard)
    assert "\n" not in str(raised.value)
    assert heard.first_step == -1


def test_a_full_disk_at_a_checkpoint_is_one_line_and_keeps_the_one_before(
    paths: Paths, reference: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RunStoppedError):
        train_run(tiny_run(), paths, progress=stop_at(7))
    with monkeypatch.context() as full:

        def no_space(*arguments: Any) -> None:
            raise OSError(28, "No space left on device")

        full.setattr("scaling_collapse.train.checkpoint.save_file", no_space)
        with pytest.raises(RunError, match=r"step-000000020.safetensors: cannot be written .No space left on device"):
            train_run(tiny_run(), paths, progress=stop_at(20))
    assert [path.name for path in newest_first(paths.checkpoint("tiny-s0"))] == ["step-000000007.safetensors"]
    train_run(tiny_run(), paths)
    assert outputs(paths, tiny_run()) == reference


@pytest.mark.parametrize(
    ("name", "value"), [("threads", 0), ("micro_batch_sequences", 0), ("checkpoint_seconds", -1.0)]
)
def test_impossible_execution_is_refused(name: str, value: float) -> None:
    with pytest.raises(RunError, match=name.replace("_", "-")):
        Execution(**{name: value})


@pytest.mark.parametrize("device", ["abacus", "cuda:99"])
def test_a_device_that_is_not_there_is_refused(paths: Paths, device: str) -> None:
    with pytest.raises(RunError, match=rf"--device: '{device}' cannot be used") as raised:
        train_run(tiny_run(), paths, Execution(device=device))
    assert "\n" not in str(raised.value)
