"""Real tiny trainings by Hugging Face's Trainer: a Llama of two layers and a Markov chain, which can turn to noise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

pytest.importorskip("transformers")
pytest.importorskip("accelerate")

from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

from scaling_collapse.live.hf_trainer import CollapseCallback
from scaling_collapse.live.read_references import read_references
from scaling_collapse.logs.read import read_logs
from tests.unit.live.support import BATCH, LENGTH, LETTERS, finished, letters

TRAINED = 120
NOISE_FROM = 0.6


class Text(torch.utils.data.IterableDataset[dict[str, torch.Tensor]]):
    """Sequences in order, so that noise comes when it should."""

    def __init__(self, noise_from: float = 1.0, sequences: int = TRAINED * BATCH) -> None:
        self.text = letters(sequences, noise_from)

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        return ({"input_ids": row, "labels": row} for row in self.text)


def trainer(folder: Path, callback: CollapseCallback | None, noise_from: float = 1.0, **settings: Any) -> Trainer:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=LETTERS,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=LENGTH,
    )
    usual: dict[str, Any] = {"max_steps": TRAINED, "logging_steps": 1, "save_strategy": "no", "report_to": []}
    usual |= {"learning_rate": 1e-2, "weight_decay": 0.1, "warmup_steps": 12, "disable_tqdm": True, "use_cpu": True}
    arguments = TrainingArguments(str(folder), per_device_train_batch_size=BATCH, **(usual | settings))
    callbacks = [] if callback is None else [callback]
    held_out = Text(sequences=8)
    return Trainer(LlamaForCausalLM(config), arguments, None, Text(noise_from), held_out, callbacks=callbacks)


def test_a_healthy_run_is_silent_and_its_end_is_predicted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    callback = CollapseCallback("tiny", tokens_per_parameter=20)
    training = trainer(tmp_path, callback)
    training.train()
    history = [entry for entry in training.state.log_history if "loss" in entry]
    assert {entry["collapse/alarm"] for entry in history} == {0.0}
    assert callback.watch is not None
    assert callback.watch.own.tau == pytest.approx(1 / (1e-2 * 0.1 * TRAINED))
    assert callback.watch.own.warmup == {"tiny": 0.1}
    end = sum(entry["loss"] for entry in history[-10:]) / 10
    half = history[TRAINED // 2]
    assert half["collapse/low"] < end < half["collapse/high"]
    assert half["collapse/low"] < half["collapse/predicted_final_loss"] < half["collapse/high"]
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("  ")[0] for line in lines if line.startswith("tiny")][-1] == f"tiny: step {TRAINED}/{TRAINED}"


def test_noise_is_told_stops_the_run_and_is_told_again_when_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = CollapseCallback("tiny", stop_on_alarm=True)
    training = trainer(tmp_path, first, NOISE_FROM, save_strategy="steps", save_steps=48)
    training.train()
    begin = NOISE_FROM * TRAINED
    assert first.watch is not None
    assert [alarm.kind for alarm in first.watch.alarms] == ["divergence"]
    assert first.watch.alarms[0].onset_step == pytest.approx(begin + 1, abs=2)
    assert begin < training.state.global_step < begin + 0.15 * TRAINED
    assert "ALARM tiny: divergence" in capsys.readouterr().err

    resumed = CollapseCallback("tiny", stop_on_alarm=True)
    again = trainer(tmp_path, resumed, NOISE_FROM)
    again.train(resume_from_checkpoint=str(tmp_path / "checkpoint-48"))
    assert resumed.watch is not None
    assert again.state.global_step == training.state.global_step
    assert resumed.watch.alarms == first.watch.alarms
    assert resumed.watch.state() == first.watch.state()
    assert capsys.readouterr().err.splitlines()[0].startswith("tiny: step 48/120")


def test_attached_before_the_loggers_its_numbers_reach_them(tmp_path: Path) -> None:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    reference = finished(tpp=20.0, tau=1 / (1e-2 * 0.1 * 40))
    training = trainer(tmp_path, None, max_steps=40, report_to=["tensorboard"], logging_steps=2)
    callback = CollapseCallback("tiny", reference, tokens_per_parameter=20).attach(training)
    training.train()
    (events,) = tmp_path.rglob("events.out.tfevents.*")
    read = accumulator.EventAccumulator(str(events.parent)).Reload()
    tags = read.Tags()["scalars"]
    assert {"train/collapse/alarm", "train/collapse/predicted_final_loss"} < set(tags)
    assert [event.step for event in read.Scalars("train/collapse/alarm")] == list(range(2, 41, 2))
    assert callback.watch is not None
    assert callback.watch.template is not None
    assert callback.watch.template.source == "small"


def test_accumulated_batches_count_as_one_step_and_evaluations_are_watched(tmp_path: Path) -> None:
    callback = CollapseCallback("tiny", quiet=True)
    settings = {"max_steps": 20, "gradient_accumulation_steps": 2, "logging_steps": 5}
    training = trainer(tmp_path, callback, eval_strategy="steps", eval_steps=10, **settings)
    training.train()
    assert callback.watch is not None
    assert callback.watch.monitor.train.bins.last_step == [5, 10, 15, 20]
    held_out = [entry["eval_loss"] for entry in training.state.log_history if "eval_loss" in entry]
    assert callback.watch.monitor.validation.bins.last_step == [10, 20]
    assert torch.tensor(callback.watch.monitor.validation.bins.raw).exp().tolist() == pytest.approx(held_out)


def test_only_the_first_process_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    callback = CollapseCallback("tiny", quiet=False)
    training = trainer(tmp_path, callback)
    training.state.max_steps, training.state.is_world_process_zero = 10, False
    callback.on_train_begin(training.args, training.state, training.control)
    for step in range(1, 11):
        training.state.global_step = step
        callback.on_log(training.args, training.state, training.control, {"loss": 3.0 - 0.01 * step})
    assert capsys.readouterr().err == ""
    assert callback.watch is not None
    assert len(callback.watch.monitor.train.bins) == 10


def test_what_it_leaves_in_trainer_state_can_be_imported_as_the_next_reference(tmp_path: Path) -> None:
    training = trainer(tmp_path, CollapseCallback("tiny", tokens_per_parameter=20, quiet=True), max_steps=30)
    training.train()
    training.save_state()
    history = [entry for entry in training.state.log_history if "loss" in entry]
    assert "collapse/predicted_final_loss" in history[-1]
    read_logs([tmp_path / "trainer_state.json"]).frame.to_csv(tmp_path / "curves.csv", index=False)
    (reference,) = read_references(tmp_path / "curves.csv", complete=True)
    assert reference.loss == pytest.approx([entry["loss"] for entry in history])
    assert CollapseCallback("next", reference).begin("", 60, None).template is not None
