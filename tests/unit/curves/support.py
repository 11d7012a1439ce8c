"""Curves and run folders with known truths."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scaling_collapse.config.model import Model, Parameterisation
from scaling_collapse.config.recipe import Optimizer, Schedule
from scaling_collapse.curves.curve import Curve
from scaling_collapse.paths import Paths
from scaling_collapse.plan.run import Run

PUBLIC = Path(__file__).parents[4] / "shared" / "curves"  # real public curves, where this checkout has them


def shape(t_hat: np.ndarray, tau: float = 0.2, tpp: float = 20.0) -> np.ndarray:
    """Return a noiseless l by the paper's surrogate (Eq. 4, 5) with constants of small models; ends at 1."""
    b, q = 0.083 * tau**-0.27, 4.7 * tpp**-0.51
    eta = np.minimum(t_hat / 0.1, (1 - t_hat) / 0.9)
    raw = (1.001 / (t_hat + 0.001)) ** 0.05 + b * (eta + 0.1) ** q
    return raw / raw[-1]


def curve(loss: np.ndarray, run: str = "a", difficulty: np.ndarray | None = None, **facts: Any) -> Curve:
    """Return a curve of one point a step, 1,000 tokens each."""
    steps = np.arange(1.0, len(loss) + 1)
    known = {"size_params": 1e5, "tokens_total": 1e3 * len(loss), "batch_tokens": 1e3, "lr_peak": 0.01}
    known |= {"weight_decay": 0.1, "schedule": "linear_to_zero", "seed": 0.0} | facts
    return Curve(run, "train", steps / len(loss), loss, steps, steps * 1e3, difficulty, known)


def rows(run: str, loss: np.ndarray, split: str = "train", **columns: Any) -> pd.DataFrame:
    """Return rows of the tidy table, one a step, 1,000 tokens each."""
    steps = np.arange(1, len(loss) + 1)
    facts = {"size_params": 1e5, "tokens_total": 1e3 * len(loss), "batch_tokens": 1e3, "lr_peak": 0.01}
    facts |= {"weight_decay": 0.1, "schedule": "linear_to_zero", "lr": 0.01, "seed": 0} | columns
    return pd.DataFrame({"run": run, "step": steps, "tokens": steps * 1e3, "loss": loss, "split": split} | facts)


def a_run(run_id: str = "100k-tpp20-s0", steps: int = 40, **changes: Any) -> Run:
    """Return a run of a tiny model in batches of 2 sequences of 8 tokens."""
    settings: dict[str, Any] = {
        "run_id": run_id,
        "groups": ("celerity_20tpp",),
        "family": "ours",
        "size": "100k",
        "model": Model(width=8, layers=1, head_size=8, ffn_hidden=8, vocabulary=16, sequence_length=8),
        "parameterisation": Parameterisation(),
        "optimizer": Optimizer(peak_lr=0.01, weight_decay=0.1),
        "schedule": Schedule(),
        "seed": 0,
        "batch_sequences": 2,
        "steps": steps,
        "params": 100_000,
        "tokens": 16 * steps,
        "tpp": 20.0,
        "batch_tokens": 16,
        "hidden_lr": 0.005,
        "tau": 0.2,
        "flops": 1e9,
    }
    return Run(**settings | changes)


def write_run(paths: Paths, run: Run, loss: np.ndarray | None = None, status: str = "finished") -> None:
    """Write the folder of an ended run."""
    folder = paths.run(run.run_id)
    folder.mkdir(parents=True)
    steps = np.arange(1, run.steps + 1)
    values = 3 + 1 / steps if loss is None else loss
    train = {"step": steps, "tokens": steps * run.batch_tokens, "loss_nats": values, "learning_rate": 0.01}
    pd.DataFrame(train | {"gradient_norm": 1.0, "tokens_per_second": 5.0}).to_parquet(folder / "train.parquet")
    every = np.unique(np.round(np.linspace(run.steps / 20, run.steps, 20)).astype(int))
    held_out = {"step": every, "tokens": every * run.batch_tokens, "loss_nats": 3 + 1 / every, "bits_per_byte": 2.0}
    pd.DataFrame(held_out).to_parquet(folder / "validation.parquet")
    record = {"run": run.model_dump(mode="json"), "status": status, "final_loss_nats": float(values[-1])}
    record |= {"final_validation_loss_nats": 3.1, "final_validation_bits_per_byte": 2.0, "epochs": 0.5, "seconds": 9.0}
    if status == "diverged":
        record["final_loss_nats"] = None
    (folder / "run.json").write_text(json.dumps(record))
