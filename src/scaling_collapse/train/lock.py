"""One process a run: an advisory lock that the kernel releases when its holder ends, however it ends."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scaling_collapse.errors import RunError
from scaling_collapse.train.files import writing

LOCK_FILE = "lock"


@contextmanager
def sole_owner(folder: Path, run_id: str) -> Iterator[None]:
    """Hold the lock of a run's checkpoint folder. Raises RunError at once if another process holds it."""
    path = folder / LOCK_FILE
    with writing(path):
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        _lock(descriptor, path, run_id)
        with writing(path):
            os.truncate(descriptor, 0)
            os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, path: Path, run_id: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
            problem = f"the folder {path.parent} cannot be locked ({error.strerror})."
            raise RunError(run_id, problem, "keep it on a file system with locks (flock).") from error
        holder = path.read_text(errors="replace").strip() or "another process"
        raise RunError(run_id, f"{holder} is training this run now.", "wait for it, or end it first.") from error
