"""Real tiny trainings by Lightning's Trainer: a table of next letters and a Markov chain, which can turn to noise."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

pytest.importorskip("lightning")

from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger

from scaling_collapse.errors import ConfigError
from scaling_collapse.live.lightning import CollapseCallback
from tests.unit.live.support import BATCH, LETTERS, letters

TRAINED, EPOCHS = 200, 4
NOISE_FROM = 0.6

pytestmark = pytest.mark.filterwarnings("ignore")


class Table(LightningModule):
    """The next letter from the last one."""

    def __init__(self, steps: int = TRAINED, named: str = "loss") -> None:
        super().__init__()
        self.table, self.steps, self.named = torch.nn.Embedding(LETTERS, LETTERS), steps, named
        self.seen: list[float] = []

    def training_step(self, batch: list[torch.Tensor], index: int) -> dict[str, torch.Tensor]:
        loss = self._loss(batch)
        self.seen.append(loss.item())
        return {"loss": loss, "twice": 2 * loss}

    def validation_step(self, batch: list[torch.Tensor], index: int) -> None:
        self.log("val_loss", self._loss(batch))

    def configure_optimizers(self) -> Any:
        optimizer = torch.optim.AdamW(self.parameters(), lr=0.05, weight_decay=0.1)
        decay = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / self.steps)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": decay, "interval": "step"}}

    def _loss(self, batch: list[torch.Tensor]) -> torch.Tensor:
        return cross_entropy(self.table(batch[0][:, :-1]).flatten(0, 1), batch[0][:, 1:].flatten())


class Epochs(torch.utils.data.Dataset[torch.Tensor]):
    """Another part of the text in each epoch."""

    def __init__(self, noise_from: float) -> None:
        self.text, self.module = letters(TRAINED * BATCH, noise_from).unflatten(0, (EPOCHS, -1)), Table()

    def __len__(self) -> int:
        return self.text.shape[1]

    def __getitem__(self, index: int) -> list[torch.Tensor]:
        return [self.text[self.module.current_epoch, index]]


def fit(
    folder: Path, callback: CollapseCallback, noise_from: float = 1.0, resume: Path | None = None, **settings: Any
) -> tuple[Trainer, Table]:
    torch.manual_seed(0)
    data = Epochs(noise_from)
    usual: dict[str, Any] = {"max_epochs": EPOCHS, "log_every_n_steps": 1, "logger": CSVLogger(folder)}
    usual |= {"enable_progress_bar": False, "enable_model_summary": False, "accelerator": "cpu"}
    keep = ModelCheckpoint(folder / "kept", save_top_k=-1, filename="{epoch}")
    trainer = Trainer(callbacks=[callback, keep], **(usual | settings))
    trainer.fit(data.module, DataLoader(data, batch_size=BATCH), ckpt_path=resume)
    return trainer, data.module


def test_a_healthy_run_is_silent_and_its_end_is_predicted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    callback = CollapseCallback("tiny", tokens_per_parameter=20, schedule="linear_to_zero")
    trainer, module = fit(tmp_path, callback)
    assert callback.watch is not None
    assert callback.watch.alarms == []
    assert callback.watch.own.tau == pytest.approx(1 / (0.05 * 0.1 * TRAINED))
    assert isinstance(trainer.logger, CSVLogger)
    with open(Path(trainer.logger.log_dir) / "metrics.csv", encoding="utf-8") as file:
        rows = {int(row["step"]): row for row in csv.DictReader(file)}
    half = {name: float(value) for name, value in rows[TRAINED // 2].items() if value}
    end = sum(module.seen[-10:]) / 10
    assert half["collapse/low"] < end < half["collapse/high"]
    assert half["collapse/low"] < half["collapse/predicted_final_loss"] < half["collapse/high"]
    assert {float(row["collapse/alarm"]) for row in rows.values()} == {0.0}
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"tiny: step {TRAINED}/{TRAINED}  final ")


def test_noise_is_told_stops_the_run_and_is_told_again_when_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = CollapseCallback("tiny", stop_on_alarm=True)
    trainer, _ = fit(tmp_path, first, NOISE_FROM)
    begin = NOISE_FROM * TRAINED
    assert first.watch is not None
    assert [alarm.kind for alarm in first.watch.alarms] == ["divergence"]
    assert first.watch.alarms[0].onset_step == pytest.approx(begin + 1, abs=2)
    assert begin < trainer.global_step < begin + 0.1 * TRAINED
    assert "ALARM tiny: divergence" in capsys.readouterr().err

    resumed = CollapseCallback("tiny", stop_on_alarm=True)
    again, _ = fit(tmp_path / "again", resumed, NOISE_FROM, resume=tmp_path / "kept" / "epoch=1.ckpt")
    assert resumed.watch is not None
    assert again.global_step == trainer.global_step
    assert resumed.watch.alarms == first.watch.alarms
    assert resumed.watch.state() == first.watch.state()
    assert capsys.readouterr().err.splitlines()[0].startswith("tiny: step 100/200  ")


def test_accumulated_batches_and_logging_intervals_are_means_over_all_their_batches(tmp_path: Path) -> None:
    callback = CollapseCallback("tiny", quiet=True)
    _, module = fit(tmp_path, callback, accumulate_grad_batches=2, log_every_n_steps=5)
    assert callback.watch is not None
    bins = callback.watch.monitor.train.bins
    assert bins.last_step == list(range(5, TRAINED // 2 + 1, 5))
    means = torch.tensor(module.seen).unflatten(0, (-1, 10)).mean(1)
    assert torch.tensor(bins.raw).exp().tolist() == pytest.approx(means.tolist(), rel=1e-5)


def test_another_entry_of_what_the_step_returns_can_be_the_loss(tmp_path: Path) -> None:
    callback = CollapseCallback("tiny", loss="twice", quiet=True)
    _, module = fit(tmp_path, callback, accumulate_grad_batches=2, max_steps=5)
    assert callback.watch is not None
    means = 2 * torch.tensor(module.seen).unflatten(0, (-1, 2)).mean(1)
    assert torch.tensor(callback.watch.monitor.train.bins.raw).exp().tolist() == pytest.approx(means.tolist(), rel=1e-5)
    with pytest.raises(ConfigError, match="training_step: it returns no 'perplexity'"):
        fit(tmp_path, CollapseCallback("tiny", loss="perplexity"), max_steps=5)


def test_validation_losses_are_watched_by_the_name_given(tmp_path: Path) -> None:
    callback = CollapseCallback("tiny", validation="val_loss", quiet=True)
    trainer = Trainer(
        callbacks=[callback],
        max_epochs=3,
        log_every_n_steps=1,
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        enable_checkpointing=False,
        accelerator="cpu",
    )
    data = DataLoader(TensorDataset(letters(5 * BATCH)), batch_size=BATCH)
    trainer.fit(Table(15), data, data)
    assert callback.watch is not None
    assert callback.watch.monitor.validation.bins.last_step == [5, 10, 15]


def test_a_training_of_another_length_begins_its_watch_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fit(tmp_path, CollapseCallback("tiny", quiet=True), max_epochs=1)
    longer = CollapseCallback("tiny")
    fit(tmp_path / "again", longer, resume=tmp_path / "kept" / "epoch=0.ckpt", max_epochs=2)
    assert "was 50.0 steps long, now it is 100.0" in capsys.readouterr().err
    assert longer.watch is not None
    assert longer.watch.monitor.train.bins.last_step[0] == 51
