"""New bytes of a growing file, through rotation (another file takes its name) and truncation."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from scaling_collapse.errors import LogError

#: Bytes read at once: a backlog of any size passes in pieces.
PIECE = 1 << 20


class Tail:
    """A file that others write to. Use as a context; the file need not be there yet.

    `rotations` counts how often another file began: the old one is read to its end first, so no line is lost, as long
    as it was renamed rather than removed, or removed while it was open here.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rotations = 0
        self._file: BinaryIO | None = None
        self._inode = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def pieces(self) -> Iterator[tuple[bytes, bool]]:
        """Yield what was written since the last call, in pieces, each with whether a new file begins with it.

        Raises LogError for a path that is no file or may not be read.
        """
        begins = False
        if self._file is None:
            begins = self._open()
        while self._file is not None:
            while piece := self._file.read(PIECE):
                yield piece, begins and self.rotations > 0
                begins = False
            if not self._replaced():
                return
            while piece := self._file.read(PIECE):  # written between the last read and the rotation
                yield piece, False
            self._close()
            self.rotations += 1
            begins = self._open()

    def _open(self) -> bool:
        try:
            if self.path.is_dir():
                raise LogError(str(self.path), "is a folder.", "name the log file in it")
            self._file = self.path.open("rb")
        except FileNotFoundError:
            return False
        except OSError as error:
            raise LogError(str(self.path), f"cannot be read ({error.strerror}).", "check its rights") from error
        self._inode = os.fstat(self._file.fileno()).st_ino
        return True

    def _replaced(self) -> bool:
        """Whether another file has the name now, or this one was cut short."""
        assert self._file is not None
        try:
            status = self.path.stat()
        except OSError:
            return False  # renamed, and the new one is not there yet: go on with the old one
        return status.st_ino != self._inode or status.st_size < self._file.tell()

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
