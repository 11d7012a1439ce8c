"""The append log of a run's metrics: one line a record, safe against crashes at any byte.

A line is the CRC-32 of a JSON object, a blank, and the object: `9f1c0a77 {"split": "train", "step": 1, ...}`. Floats
are written in full, so they read back exactly. Each line goes to the operating system in one write, so SIGKILL loses
none; `sync` forces it to disk before a checkpoint, so a power cut loses none that a checkpoint relies on.
"""

from __future__ import annotations

import json
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from scaling_collapse.train.files import writing

Split = Literal["train", "validation"]


@dataclass(frozen=True)
class Record:
    """One row of a curve: its split, its step, and its columns by name."""

    split: Split
    step: int
    values: dict[str, Any]


class MetricLog:
    """Appends records to a file. Raises RunError where the file cannot be written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab", buffering=0)

    def append(self, split: Split, step: int, **values: float | None) -> None:
        """Add one record. Values are finite, or None where a column does not apply."""
        body = json.dumps({"split": split, "step": step, **values}, allow_nan=False).encode()
        with writing(self._path):
            self._file.write(b"%08x %s\n" % (zlib.crc32(body), body))

    def sync(self) -> None:
        """Force everything that was appended to disk."""
        with writing(self._path):
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file; the log can be read at any time, also while it is open."""
        self._file.close()


def read_log(path: Path) -> list[Record]:
    """Read the records up to the first torn or damaged line; an absent file holds none."""
    return [record for record, _ in _records_with_end(path)]


def truncate_log(path: Path, step: int) -> list[Record]:
    """Drop the records after `step` and whatever is damaged, on disk too; return the records that stay."""
    kept, end = [], 0
    for record, record_end in _records_with_end(path):
        if record.step > step:
            break
        kept.append(record)
        end = record_end
    if path.exists():
        with writing(path):
            os.truncate(path, end)
    return kept


def _records_with_end(path: Path) -> list[tuple[Record, int]]:
    """Return the valid records, each with the byte offset at which its line ends."""
    found, end = [], 0
    for line in path.read_bytes().splitlines(keepends=True) if path.exists() else []:
        body = _checked_body(line)
        if body is None:
            break
        end += len(line)
        found.append((Record(body.pop("split"), body.pop("step"), body), end))
    return found


def _checked_body(line: bytes) -> dict[str, Any] | None:
    """Return the JSON object of a line whose checksum is right and whose end is there, else None."""
    checksum, _, body = line.removesuffix(b"\n").partition(b" ")
    if not line.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(body):
        return None
    return dict(json.loads(body))
