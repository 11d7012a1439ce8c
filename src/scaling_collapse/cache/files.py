"""Copies of and links to objects, verified."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Sequence
from pathlib import Path

from scaling_collapse.errors import DamagedError
from scaling_collapse.identity.hashing import Content, content_of

READ_ONLY = 0o444
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # what a disk says that has no place


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
