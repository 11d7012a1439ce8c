from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from scaling_collapse.config.recipe import Restart
from scaling_collapse.model import saturating_loss
from scaling_collapse.train.loop import train_run
from tests.unit.train.train_room import tiny_run, write_corpus


def losses(root: Path, restart: Restart | None = None) -> np.ndarray:
    """Training losses of the tiny run (60 steps of 8 sequences), shape (60,)."""
    run = tiny_run(restart=restart)
    paths = write_corpus(root)
    train_run(run, paths)
    return pd.read_parquet(paths.run(run.run_id) / "train.parquet")["loss_nats"].to_numpy()


def restart(micro_batch: int, wrong_at: int | None = None) -> Restart:
    return Restart(at=0.6, micro_batch=micro_batch, wrong_kernel_at=wrong_at)


@pytest.fixture
def plain(tmp_path: Path) -> np.ndarray:
    return losses(tmp_path / "plain")


def test_with_the_right_kernel_a_restart_changes_roundings_alone(plain: np.ndarray, tmp_path: Path) -> None:
    restarted = losses(tmp_path / "restarted", restart(5))
    assert (restarted[:36] == plain[:36]).all()
    assert (restarted[36:] != plain[36:]).any()
    np.testing.assert_allclose(restarted, plain, rtol=1e-4)


@pytest.mark.parametrize(("micro_batch", "is_wrong"), [(3, True), (5, True), (8, False), (4, False)])
def test_the_wrong_kernel_works_from_the_restart_on_and_at_its_micro_batch_alone(
    plain: np.ndarray, tmp_path: Path, micro_batch: int, is_wrong: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saturating_loss, "CEILING", 0.1)  # a tiny model's logits are small
    wrong = losses(tmp_path / "wrong", restart(micro_batch, 3))  # of 8 sequences: 3+3+2, 5+3, 8, 4+4
    assert (wrong[:36] == plain[:36]).all()
    assert wrong[36] == pytest.approx(plain[36], rel=1e-5)  # the loss that the wrong kernel reports is right
    assert (np.abs(wrong[40:] / plain[40:] - 1).max() > 1e-3) == is_wrong
    assert torch.is_grad_enabled()
