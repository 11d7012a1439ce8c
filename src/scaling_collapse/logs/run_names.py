"""Names for runs whose logs do not name them: from files and folders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

SUFFIXES = {".gz", ".log", ".txt", ".out", ".err", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".wandb"}

#: File names that tools give to every run; the folder says which run it is.
GENERIC = {"output", "main", "log", "logs", "train", "training", "metrics", "trainer_state", "history", "stdout"}
GENERIC |= {"console", "train_log", "training_log", "results", "stderr", "loss", "losses"}
EVENTS = "events.out.tfevents."

#: Folders that say no more than their parent does: Lightning's versions are kept with it, checkpoints are not.
VERSION, CHECKPOINT = "version_", "checkpoint-"


def run_names(paths: Sequence[Path], run: str | None = None) -> list[str]:
    """Return a name for each file; `run` for all where it is given.

    Event files of one folder are parts of one run, as TensorBoard has it; other files get names of their own.
    """
    if run is not None:
        return [run] * len(paths)
    names = [_name(path.absolute()) for path in paths]
    for longer in (lambda path: f"{path.parent.name}/{path.name}", str):
        twice = {name for name, count in Counter(_distinct(paths, names)).items() if count > 1}
        names = [longer(p.absolute()) if n in twice else n for p, n in zip(paths, names, strict=True)]
    return names


def _distinct(paths: Sequence[Path], names: Sequence[str]) -> list[str]:
    """Return the names, those of event files in one folder once."""
    keys = {(p.absolute().parent if p.name.startswith(EVENTS) else p, n) for p, n in zip(paths, names, strict=True)}
    return [name for _, name in keys]


def _name(path: Path) -> str:
    stem = path
    while stem.suffix.lower() in SUFFIXES and stem.stem:
        stem = stem.with_suffix("")
    if stem.name.lower() not in GENERIC and not path.name.startswith(EVENTS):
        return stem.name
    folder = path.parent
    if folder.name.startswith(CHECKPOINT):
        folder = folder.parent
    if folder.name.startswith(VERSION):
        return f"{folder.parent.name}/{folder.name}"
    return folder.name or stem.name
