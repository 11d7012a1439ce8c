"""What a clone remembers between two runs of the pipeline: what lies in its working tree, and what is to be pushed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from typing import Any

from scaling_collapse.identity.hashing import Content, Hashes, Stamp
from scaling_collapse.identity.resolve import Made
from scaling_collapse.identity.stage import Record, key_of
from scaling_collapse.whole_file import appearing


def read_made(folder: Path) -> dict[str, Made]:
    """Return what lies in the working tree, by stage. A note that cannot be read is as good as none."""
    made = {}
    for path in folder.glob("*.json") if folder.is_dir() else ():
        with suppress(OSError, ValueError, KeyError, TypeError):
            record = json.loads(path.read_text(encoding="utf-8"))
            made[path.stem] = Made(key_of(record), record)
    return made


def write_made(folder: Path, name: str, record: Record) -> None:
    """Note what the files of a stage are. Raises OSError."""
    _write(folder / f"{name}.json", record)


def forget_made(folder: Path, name: str) -> None:
    """Remove a note: the files are about to change, or their stage has left the study."""
    (folder / f"{name}.json").unlink(missing_ok=True)


def read_hashes(path: Path, root: Path) -> Hashes:
    """Return what is known of files' content; nothing where that cannot be read."""
    hashes = Hashes(root)
    with suppress(OSError, ValueError, TypeError):
        for name, (stamp, content) in json.loads(path.read_text(encoding="utf-8")).items():
            hashes.known[name] = (Stamp(*stamp), Content(*content))
    return hashes


def write_hashes(path: Path, hashes: Hashes) -> None:
    """Keep what is known of files' content. Raises OSError."""
    _write(path, {name: [astuple(stamp), astuple(content)] for name, (stamp, content) in hashes.known.items()})


def mark_push(folder: Path, key: str, value: str) -> None:
    """Remember that a record is to be pushed, also after a power cut. Raises OSError."""
    _write(folder / key, value)


def marked_pushes(folder: Path) -> list[tuple[str, str]]:
    """Return key and value of the records that are to be pushed."""
    marked = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        with suppress(OSError, ValueError):
            marked.append((path.name, str(json.loads(path.read_text(encoding="utf-8")))))
    return marked


def unmark_push(folder: Path, key: str) -> None:
    """Forget a push: it is done, or will never be allowed."""
    (folder / key).unlink(missing_ok=True)


def mark_forces(folder: Path, names: Iterable[str]) -> None:
    """Mark exactly these stages as asked for, for the processes that run them. Raises OSError."""
    for path in folder.iterdir() if folder.is_dir() else ():
        path.unlink()
    for name in names:
        _write(folder / name, True)


def take_force(folder: Path, name: str) -> bool:
    """Whether a stage was marked; the mark is gone then."""
    try:
        (folder / name).unlink()
    except OSError:
        return False
    return True


def _write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with appearing(path) as partial:
        partial.write_text(json.dumps(value), encoding="utf-8")
