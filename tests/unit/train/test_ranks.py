"""Two processes train one run as one process does."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from scaling_collapse.errors import ProjectError, RunError
from scaling_collapse.paths import Paths
from scaling_collapse.plan.run import Run
from scaling_collapse.train.execution import Execution
from scaling_collapse.train.job import Job, check
from scaling_collapse.train.loop import train_run
from scaling_collapse.train.world import World

from .train_room import SCALE, SERVER, Listener, outputs, start, tiny_run, write_corpus

RUN = tiny_run(steps=40, validations=4, validation_sequences=21)


def rank_process(root: Path, run: Run, rank: int, port: int, stop_at: int) -> None:
    """One rank, with the environment that torchrun gives it; the second is signalled after step `stop_at`."""
    os.environ |= {"TORCHELASTIC_RUN_ID": "test", "RANK": str(rank), "WORLD_SIZE": "2"}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}

    if rank == 1 and stop_at:
        update = Job.update

        def signalled(self: Job, step: int, norm: float) -> None:
            update(self, step, norm)
            if step == stop_at:
                os.kill(os.getpid(), signal.SIGTERM)

        Job.update = signalled  # type: ignore[method-assign]
    try:
        train_run(run, Paths(SCALE, root), Execution(), Listener())
    except ProjectError as error:
        raise SystemExit(error.exit_code) from None


def train_with_two_ranks(root: Path, run: Run = RUN, stop_at: int = 0) -> list[int]:
    """Train with two ranks and return their exit codes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ranks: list[Any] = [SERVER.Process(target=rank_process, args=(root, run, rank, port, stop_at)) for rank in (0, 1)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join(60)
    return [rank.exitcode for rank in ranks]


@pytest.fixture(scope="module")
def one_rank(tmp_path_factory: pytest.TempPathFactory) -> Paths:
    paths = write_corpus(tmp_path_factory.mktemp("one"))
    train_run(RUN, paths)
    return paths


def assert_equal_within_float_error(paths: Paths, one_rank: Paths) -> None:
    for table, columns in (("train", ["loss_nats", "gradient_norm"]), ("validation", ["loss_nats", "bits_per_byte"])):
        ours, expected = (pd.read_parquet(p.run(RUN.run_id) / f"{table}.parquet") for p in (paths, one_rank))
        assert ours.step.tolist() == expected.step.tolist()
        np.testing.assert_allclose(ours[columns], expected[columns], rtol=1e-5)


@pytest.mark.slow
def test_torchrun_with_two_processes_gives_one_processs_losses(tmp_path: Path, one_rank: Paths) -> None:
    paths = write_corpus(tmp_path)
    launched = start(paths, RUN, ranks=2)
    spoken = launched.communicate(timeout=120)[1]
    assert launched.returncode == 0, spoken
    assert spoken.count("starts at step 0/40") == 1  # only the first rank speaks
    assert_equal_within_float_error(paths, one_rank)


def test_two_ranks_stop_at_a_signal_and_resume_with_the_same_bits(tmp_path: Path, one_rank: Paths) -> None:
    uninterrupted, stopped = write_corpus(tmp_path / "a"), write_corpus(tmp_path / "b")
    assert train_with_two_ranks(uninterrupted.root) == [0, 0]
    assert_equal_within_float_error(uninterrupted, one_rank)
    assert train_with_two_ranks(stopped.root, stop_at=15) == [143, 143]
    assert not stopped.run(RUN.run_id).exists()
    assert train_with_two_ranks(stopped.root) == [0, 0]
    assert outputs(stopped, RUN) == outputs(uninterrupted, RUN)


def test_a_fault_of_the_first_rank_reaches_all(tmp_path: Path) -> None:
    paths = write_corpus(tmp_path)
    paths.checkpoint(RUN.run_id).parent.mkdir(parents=True)
    paths.checkpoint(RUN.run_id).write_text("a file in the way")
    assert train_with_two_ranks(tmp_path) == [2, 2]


def test_a_batch_that_ranks_cannot_share_is_refused() -> None:
    class Corpus:
        class info:  # noqa: N801
            vocabulary = 64

    with pytest.raises(RunError, match="8 sequences cannot be shared out to 3 processes"):
        check(RUN, Corpus, World(0, 3))  # type: ignore[arg-type]
