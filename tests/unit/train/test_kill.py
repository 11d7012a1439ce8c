"""SIGKILL at any moment, started again: the same bits as without it.

The killed processes are forked from a server that has torch loaded, which makes a start cheap.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scaling_collapse.paths import Paths
from scaling_collapse.train.checkpoint import newest_first
from scaling_collapse.train.resume import LOG_FILE

from .train_room import SCALE, SERVER, outputs, start, tiny_run, write_corpus

RUN = tiny_run(steps=150)
BYTES_OF_A_RECORD = 160  # of the log, roughly


def kill_self() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def train(root: Path, die: Callable[[], None] | None = None) -> None:
    """Train with a checkpoint every 20 ms; `die` arranges an accident."""
    from scaling_collapse.train import loop
    from scaling_collapse.train.execution import Execution

    loop.CHECKPOINT_SHARE = 0
    if die:
        die()
    loop.train_run(RUN, Paths(SCALE, root), Execution(checkpoint_seconds=0.02))


def die_at_replace(number: int, after: bool) -> None:
    """Die right before or after the `number`th file is moved into place (checkpoints and outputs)."""
    replace, count = os.replace, iter(range(1, 1000))

    def deadly(*arguments: Any) -> None:
        fatal = next(count) == number
        if fatal and not after:
            kill_self()
        replace(*arguments)
        if fatal:
            kill_self()

    os.replace = deadly  # type: ignore[assignment]


def die_at_output(name: str) -> None:
    """Die right before an output is moved into place."""
    replace = os.replace

    def deadly(source: Any, target: Any) -> None:
        if Path(target).name == name:
            kill_self()
        replace(source, target)

    os.replace = deadly  # type: ignore[assignment]


def die_in_a_log_record(number: int) -> None:
    """Die when half of the `number`th record is written."""
    from scaling_collapse.train.log import MetricLog

    append, count = MetricLog.append, iter(range(1, 1000))

    def deadly(self: MetricLog, *arguments: Any, **values: Any) -> None:
        if next(count) == number:
            self._file.write(b'1234abcd {"split": "tra')
            kill_self()
        append(self, *arguments, **values)

    MetricLog.append = deadly  # type: ignore[method-assign]


def die_before_the_checkpoints_go() -> None:
    """Die when the outputs are written and the checkpoints are about to be deleted."""
    from scaling_collapse.train import loop

    loop.discard = lambda folder: kill_self()


class Accident:
    """A function with its arguments that a process can be sent."""

    def __init__(self, arrange: Callable[..., None], *arguments: Any) -> None:
        self.arrange, self.arguments = arrange, arguments

    def __call__(self) -> None:
        self.arrange(*self.arguments)

    def __repr__(self) -> str:
        return "-".join([self.arrange.__name__, *map(str, self.arguments)])


ACCIDENTS = [
    Accident(die_at_replace, 1, False),
    Accident(die_at_replace, 1, True),
    Accident(die_at_replace, 3, False),
    Accident(die_at_replace, 4, True),
    Accident(die_in_a_log_record, 1),
    Accident(die_in_a_log_record, 77),
    Accident(die_at_output, "weights.safetensors"),
    Accident(die_at_output, "run.json"),
    Accident(die_before_the_checkpoints_go),
]


def process(root: Path, accident: Accident | None = None) -> Any:
    started = SERVER.Process(target=train, args=(root, accident))
    started.start()
    return started


def finish(root: Path) -> None:
    last = process(root)
    last.join(60)
    assert last.exitcode == 0


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Outputs of the uninterrupted run."""
    root = tmp_path_factory.mktemp("reference")
    paths = write_corpus(root)
    finish(root)
    return outputs(paths, RUN)


@pytest.mark.parametrize("accident", ACCIDENTS, ids=repr)
def test_killed_at_a_delicate_moment(tmp_path: Path, reference: dict[str, bytes], accident: Accident) -> None:
    paths = write_corpus(tmp_path)
    victim = process(tmp_path, accident)
    victim.join(60)
    assert victim.exitcode == -signal.SIGKILL
    finish(tmp_path)
    assert outputs(paths, RUN) == reference
    assert not list(tmp_path.rglob("*.tmp"))


def kill_after_steps(root: Path, more: int, delay: float) -> bool:
    """Train, and kill the process some `more` steps and `delay` seconds later. Returns False if it ended first."""
    victim = process(root)
    log = Paths(SCALE, root).checkpoint(RUN.run_id) / LOG_FILE
    size = log.stat().st_size if log.exists() else 0
    while victim.exitcode is None and (not log.exists() or log.stat().st_size < size + more * BYTES_OF_A_RECORD):
        time.sleep(0.001)
    time.sleep(delay)
    victim.kill()
    victim.join()
    return bool(victim.exitcode == -signal.SIGKILL)


@pytest.mark.parametrize("seed", range(6))
def test_killed_at_random_moments(tmp_path: Path, reference: dict[str, bytes], seed: int) -> None:
    paths, chance = write_corpus(tmp_path), random.Random(seed)
    kills = [kill_after_steps(tmp_path, chance.randrange(60), chance.uniform(0, 0.03)) for _ in range(2)]
    assert any(kills)
    finish(tmp_path)
    assert outputs(paths, RUN) == reference


@pytest.mark.slow
def test_a_process_of_its_own_stops_at_ctrl_c_and_ends_with_the_same_bits(
    tmp_path: Path, reference: dict[str, bytes]
) -> None:
    paths, run = write_corpus(tmp_path), RUN
    first = start(paths, run)
    assert first.stderr is not None
    lines = [first.stderr.readline() for _ in range(4)]
    assert "starts at step 0/150" in lines[0]
    first.send_signal(signal.SIGINT)
    assert first.wait(60) == 130
    last = first.stderr.read().splitlines()[-1]
    assert last.startswith("error: tiny-s0: stopped by SIGINT after step")
    assert len(newest_first(paths.checkpoint(run.run_id))) == 1
    second = start(paths, run)
    assert "continues at step" in second.communicate()[1]
    assert second.returncode == 0
    assert outputs(paths, run) == reference


def test_a_second_ctrl_c_ends_the_process_at_once(tmp_path: Path) -> None:
    program = (
        "import time; from scaling_collapse.train.stop import stop_requests\n"
        "with stop_requests() as stop:\n"
        "    print('ready', flush=True)\n"
        "    while True:\n"
        "        time.sleep(0.01)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGINT)
    child.send_signal(signal.SIGINT)  # the same one, passed on by a parent
    time.sleep(1.2)
    assert child.poll() is None
    child.send_signal(signal.SIGINT)
    assert child.wait(10) == -signal.SIGINT
