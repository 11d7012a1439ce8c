"""A tiny run on a tiny corpus, in this process or in others: `python train_room.py ROOT RUN EXECUTION` (JSON texts)."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scaling_collapse.corpus.shards import Info, write_info, write_shard
from scaling_collapse.errors import ProjectError
from scaling_collapse.paths import Paths
from scaling_collapse.plan.run import Run
from scaling_collapse.train.outcome import Outcome

#: Forks processes that have everything loaded, so that starting one is cheap.
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["pytest", "pandas", "pyarrow.parquet", "torch._dynamo", "scaling_collapse.train.loop"])

SCALE = "tiny"
VOCABULARY, LENGTH = 64, 16
TRAIN_TOKENS, HELD_OUT_TOKENS = 40_000, 4_000
BYTES_PER_TOKEN = 2.5


def tiny_run(**changes: Any) -> Run:
    """A run of 60 steps of 8 x 16 tokens, some milliseconds each; `changes` replace whole fields."""
    fields: dict[str, Any] = {
        "run_id": "tiny-s0",
        "groups": ("test",),
        "family": "test",
        "size": "tiny",
        "model": {
            "width": 16,
            "layers": 2,
            "head_size": 8,
            "ffn_hidden": 32,
            "vocabulary": VOCABULARY,
            "sequence_length": LENGTH,
        },
        "parameterisation": {"base_width": 16, "base_layers": 2},
        "optimizer": {"peak_lr": 0.01, "weight_decay": 0.1, "gradient_clip": 0.5},
        "schedule": {"kind": "linear_to_zero"},
        "seed": 0,
        "batch_sequences": 8,
        "steps": 60,
        "validations": 6,
        "validation_sequences": 20,
        "params": 6272,
        "tpp": 1.0,
        "hidden_lr": 0.01,
        "tau": 16.7,
        "flops": 1.0,
        **changes,
    }
    batch_tokens = fields["batch_sequences"] * fields["model"]["sequence_length"]
    return Run(**{"batch_tokens": batch_tokens, "tokens": batch_tokens * fields["steps"], **fields})


def write_corpus(root: Path) -> Paths:
    """Write a corpus of a learnable Markov chain: each token has four likely successors."""
    paths = Paths(SCALE, root)
    paths.corpus.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(1)
    successors = random.integers(0, VOCABULARY, size=(VOCABULARY, 4))
    choices = random.integers(0, 4, size=TRAIN_TOKENS + HELD_OUT_TOKENS)
    tokens = np.zeros(len(choices), "<u2")
    for i in range(1, len(tokens)):
        tokens[i] = successors[tokens[i - 1], choices[i]]
    write_shard(paths.corpus / "train.bin", [tokens[:TRAIN_TOKENS]])
    write_shard(paths.corpus / "held_out.bin", [tokens[TRAIN_TOKENS:]])
    info = Info(
        source="test",
        sources=(),
        vocabulary=VOCABULARY,
        end_of_text=None,
        dtype="uint16",
        train_tokens=TRAIN_TOKENS,
        held_out_tokens=HELD_OUT_TOKENS,
        train_bytes=None,
        held_out_bytes=None,
        train_documents=1,
        held_out_documents=1,
        bytes_per_token={"train": BYTES_PER_TOKEN, "held_out": BYTES_PER_TOKEN},
        sha256={},
        settings={},
    )
    write_info(paths.corpus, info)
    return paths


class Listener:
    """Progress that keeps what it hears and calls `on_step(step)` after each step."""

    def __init__(self, on_step: Callable[[int], object] = lambda step: None) -> None:
        self.remarks: list[str] = []
        self.first_step = -1
        self.steps: list[int] = []
        self.outcome: Outcome | None = None
        self._on_step = on_step

    def said(self, text: str) -> None:
        self.remarks.append(text)

    def started(self, run: Run, losses: Sequence[float]) -> None:
        self.first_step = len(losses)

    def stepped(self, step: int, loss: float, learning_rate: float) -> None:
        self.steps.append(step)
        self._on_step(step)

    def validated(self, step: int, loss: float) -> None: ...

    def finished(self, outcome: Outcome) -> None:
        self.outcome = outcome


def outputs(paths: Paths, run: Run) -> dict[str, bytes]:
    """What must not depend on interruptions, bit for bit: both curves without the speeds, and the weights."""
    import pandas as pd

    folder = paths.run(run.run_id)
    train = pd.read_parquet(folder / "train.parquet").drop(columns="tokens_per_second")
    validation = pd.read_parquet(folder / "validation.parquet")
    status = json.loads((folder / "run.json").read_text())["status"]
    return {
        "train": train.to_numpy().tobytes(),
        "validation": validation.to_numpy().tobytes(),
        "weights": (folder / "weights.safetensors").read_bytes(),
        "status": status.encode(),
    }


def command(paths: Paths, run: Run, ranks: int = 1, **execution: Any) -> list[str]:
    """The command line of a process (or, under torchrun, `ranks` processes) that trains `run`."""
    arguments = [__file__, str(paths.root), run.model_dump_json(), json.dumps(execution)]
    if ranks == 1:
        return [sys.executable, *arguments]
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)]
    return [sys.executable, *launcher, *arguments]


def start(paths: Paths, run: Run, ranks: int = 1, **execution: Any) -> subprocess.Popen[str]:
    """Start a training process; its standard error is piped."""
    words, environment = command(paths, run, ranks, **execution), {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=environment)


def train_in_process(root: str, run: str, execution: str) -> int:
    """Train as `collapse train` does: errors are one line, and decide the exit code."""
    from scaling_collapse.train.execution import Execution
    from scaling_collapse.train.loop import train_run
    from scaling_collapse.train.progress import LinePrinter

    specification = Run.model_validate_json(run)
    try:
        progress = LinePrinter(specification.run_id, every_seconds=0.0)
        train_run(specification, Paths(SCALE, Path(root)), Execution(**json.loads(execution)), progress)
    except ProjectError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(train_in_process(*sys.argv[1:]))
