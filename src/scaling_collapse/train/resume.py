"""Where a run continues: the newest checkpoint that is whole, is this run's, and has its part of the log."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from scaling_collapse.train.checkpoint import DamagedCheckpointError, Header, newest_first, read_header, restore
from scaling_collapse.train.files import delete_unfinished, writing
from scaling_collapse.train.identity import difference
from scaling_collapse.train.log import Record, read_log, truncate_log

LOG_FILE = "metrics.log"
#: Where the checkpoints of another specification go. The next ones replace them.
SUPERSEDED = "superseded"


@dataclass(frozen=True)
class Start:
    """Where training starts: after `step` steps and `seconds` of training, with their training losses [nats]."""

    step: int = 0
    seconds: float = 0.0
    losses: Sequence[float] = ()


def resume(
    folder: Path,
    tensors: Mapping[str, Tensor],
    identity: dict[str, str],
    validation_steps: frozenset[int],
    say: Callable[[str], None],
) -> Start:
    """Restore the newest usable checkpoint of `folder` into the live tensors and cut the log to its step.

    Checkpoints of another identity are moved aside and training starts afresh. Whatever is passed over, `say` says why.
    """
    with writing(folder):
        delete_unfinished(folder)
    found = newest_first(folder)
    for path in found:
        try:
            header = read_header(path)
            changed = difference(header.identity, identity)
            if changed:
                _set_aside(folder)
                say(f"starts afresh: {changed} changed; the old checkpoints are in {folder / SUPERSEDED}")
                return Start()
            _check_log(read_log(folder / LOG_FILE), header, validation_steps)
            restore(path, header, tensors)
        except DamagedCheckpointError as damage:
            say(f"checkpoint {path.name} is not usable ({damage}); trying the one before")
            continue
        kept = truncate_log(folder / LOG_FILE, header.step)
        losses = (record.values["loss_nats"] for record in kept if record.split == "train")
        return Start(header.step, header.seconds, list(losses))
    if found:
        _set_aside(folder)
        say(f"starts afresh: no checkpoint is usable; they are in {folder / SUPERSEDED}")
    truncate_log(folder / LOG_FILE, 0)
    return Start()


def discard(folder: Path) -> None:
    """Delete checkpoints and log once the outputs are safe; the lock stays, as others may be waiting for it."""
    with writing(folder):
        for path in [*newest_first(folder), folder / LOG_FILE]:
            path.unlink(missing_ok=True)
        shutil.rmtree(folder / SUPERSEDED, ignore_errors=True)


def _check_log(records: list[Record], header: Header, validation_steps: frozenset[int]) -> None:
    """Raise DamagedCheckpointError unless the log has every record up to the checkpoint's step."""
    for split, expected in (
        ("train", list(range(1, header.step + 1))),
        ("validation", sorted(step for step in validation_steps if step <= header.step)),
    ):
        steps = [record.step for record in records if record.split == split and record.step <= header.step]
        if steps != expected:
            raise DamagedCheckpointError(f"{LOG_FILE} lacks {split} records before step {header.step}")


def _set_aside(folder: Path) -> None:
    """Move checkpoints and log into the folder `superseded`, replacing what it held."""
    with writing(folder):
        shutil.rmtree(folder / SUPERSEDED, ignore_errors=True)
        (folder / SUPERSEDED).mkdir()
        for path in [*newest_first(folder), folder / LOG_FILE]:
            if path.exists():
                os.replace(path, folder / SUPERSEDED / path.name)
