"""Files that appear whole and verified, or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from scaling_collapse.errors import DamagedError
from scaling_collapse.identity.hashing import Content, content_of

READ_ONLY = 0o444
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # what a disk says that has no place


@contextmanager
def appearing(target: Path) -> Iterator[Path]:
    """Give a name to write to, beside `target`; move it there when the block ends well, else remove it."""
    partial = target.with_name(f".{uuid.uuid4().hex[:12]}.part")
    try:
        yield partial
        os.replace(partial, target)
    finally:
        with suppress(OSError):
            partial.unlink()


def place(source: Path, partial: Path, content: Content, links: Sequence[str] = ("reflink", "copy")) -> None:
    """Make `partial` from `source`, by the first kind of link that works, and verify it.

    Raises DamagedError if it does not hold `content`, OSError (no space, no rights).
    """
    for link in links:
        if link == "copy":
            shutil.copyfile(source, partial)
        elif not _link(link, source, partial):
            continue
        break
    else:
        raise OSError(errno.ENOTSUP, f"none of the links {', '.join(links)} can be made here", str(partial))
    if content_of(partial) != content:
        raise DamagedError(str(source), f"does not hold what its name says ({content.md5}).")


def _link(kind: str, source: Path, partial: Path) -> bool:
    """Make `partial` a link (reflink, hardlink or symlink); return whether the disk can do that."""
    from dvc_objects.fs.generic import transfer
    from dvc_objects.fs.local import localfs

    try:
        transfer(localfs, str(source), localfs, str(partial), links=[kind])
    except OSError as error:
        if error.errno != errno.ENOTSUP:  # what transfer makes of every error that says so
            raise
        return False
    return True
