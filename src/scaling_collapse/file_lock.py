"""A lock that the kernel releases when its holder ends, however it ends."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HELD_ELSEWHERE = (errno.EWOULDBLOCK, errno.EACCES)


class LockedError(Exception):
    """Another process holds the lock; the message names it."""


class NoLocksError(Exception):
    """The disk has no locks; the cause says why."""


@contextmanager
def holding(path: Path) -> Iterator[None]:
    """Hold the lock of a file, which is made and says who holds it.

    Raises LockedError at once if another process holds it, NoLocksError on a disk without locks, OSError where the file
    cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in HELD_ELSEWHERE:
                raise NoLocksError(error.strerror) from error
            raise LockedError(path.read_text(errors="replace").strip() or "another process") from error
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)
