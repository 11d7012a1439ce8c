"""One pipeline a clone: a lock that the kernel releases when its holder ends, however it ends."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scaling_collapse.errors import CacheError

HELD_ELSEWHERE = (errno.EWOULDBLOCK, errno.EACCES)


@contextmanager
def sole_pipeline(path: Path) -> Iterator[bool]:
    """Hold the lock of a clone; yield whether that worked: not where the disk has no locks.

    Raises CacheError if another process holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in HELD_ELSEWHERE:
                yield False
                return
            holder = path.read_text(errors="replace").strip() or "another process"
            raise CacheError(
                "snakemake", f"{holder} is running the pipeline in this clone.", "wait for it, or end it first."
            ) from error
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        yield True
    finally:
        os.close(descriptor)
