"""Writing files so that a reader, a crash or a full disk never meets half of one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from scaling_collapse.errors import RunError

#: Ending of files that are still being written; leftovers of killed processes may be deleted.
UNFINISHED = ".tmp"


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an operating-system failure into one line that names the path (RunError)."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise RunError(
            str(path),
            f"cannot be written ({reason}).",
            "free disk space or mend the folder's rights, then run the same command; it continues.",
        ) from error


def check_writable(folder: Path) -> None:
    """Raise RunError if `folder` could not be made or written to, before hours of work depend on it."""
    nearest = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    with writing(folder):
        if not nearest.is_dir():
            raise NotADirectoryError(None, f"{nearest} is a file")
        if not os.access(nearest, os.W_OK | os.X_OK):
            raise PermissionError(None, f"no right to write in {nearest}")


def write_atomically(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file beside `path`, force it to disk, then move it into place.

    Afterwards `path` holds either its old content or the whole new one, also after a power cut. Raises RunError.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}{UNFINISHED}")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            write(temporary)
            _force_to_disk(temporary)
            os.replace(temporary, path)
            _force_to_disk(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


def delete_unfinished(folder: Path) -> None:
    """Delete what killed processes left half-written in `folder`. Only its owner may call this."""
    for path in folder.glob(f"*{UNFINISHED}"):
        path.unlink(missing_ok=True)


def _force_to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
