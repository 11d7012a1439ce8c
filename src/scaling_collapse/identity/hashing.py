"""MD5 of files, which is what DVC names objects by, remembered as long as a file's size and time stay the same."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

CHUNK = 1 << 20  # bytes


@dataclass(frozen=True)
class Content:
    """What a file holds: MD5 and size in bytes."""

    md5: str
    size: int


@dataclass(frozen=True)
class Stamp:
    """What tells, without reading, that a file is still the same: size, time of change and inode."""

    size: int
    modified_ns: int
    inode: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """Take a file's stamp. Raises OSError."""
        status = path.stat()
        return cls(status.st_size, status.st_mtime_ns, status.st_ino)


@dataclass
class Hashes:
    """Content of files below `root`, each read once."""

    root: Path
    known: dict[str, tuple[Stamp, Content]] = field(default_factory=dict)

    def content(self, path: str) -> Content:
        """Return the content of the file `path`, relative to the root. Raises OSError."""
        stamp = Stamp.of(self.root / path)
        remembered = self.known.get(path)
        if remembered and remembered[0] == stamp:
            return remembered[1]
        content = content_of(self.root / path)
        self.known[path] = (stamp, content)
        return content

    def forget(self, path: str) -> None:
        """Read the file anew next time."""
        self.known.pop(path, None)


def content_of(path: Path) -> Content:
    """Read a file and return its MD5 and size. Raises OSError."""
    digest, size = hashlib.md5(usedforsecurity=False), 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return Content(digest.hexdigest(), size)
