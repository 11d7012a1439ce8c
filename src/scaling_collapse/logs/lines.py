"""Chunks of bytes to whole lines of UTF-8 text, with bounded memory."""

from __future__ import annotations

import codecs
import re

from scaling_collapse.logs.notes import Notes

#: Longest line that is read. A wide W&B export of 1,000 runs has a header of 0.2 MB.
MAX_LINE = 1 << 22

#: Stands where a line breaks off, so that no number that touches the break is taken for a whole one.
BREAK = b"\x1a"

LONG_LINES = f"lines longer than {MAX_LINE >> 20} MiB, left out"
NUL_BYTES = "places with NUL bytes (a crash of the file system) taken for line ends"

_NULS = re.compile(rb"\0+")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Lines:
    """Holds an unfinished line back. Line ends are LF, CR (progress bars) or both; UTF-16 becomes UTF-8."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self.new_file()

    def new_file(self) -> None:
        """Forget the unfinished line; the next bytes are the first of a file."""
        self._pending = b""
        self._start = True
        self._skipping = False
        self._decoder: codecs.IncrementalDecoder | None = None

    def feed(self, data: bytes) -> bytes:
        """Return the lines that `data` completes, each ended by LF (b"" if there are none)."""
        if self._start and data:
            data = self._begin(data)
        if self._decoder is not None:
            data = self._decoder.decode(data).encode("utf-8", "replace")
        if b"\r" in data:
            data = data.replace(b"\r", b"\n")
        if b"\0" in data:
            data = self._without_nuls(data)
        if self._skipping:
            _, newline, data = data.partition(b"\n")
            self._skipping = not newline
        end = data.rfind(b"\n") + 1
        if not end:
            self._hold(self._pending + data)
            return b""
        complete = self._pending + data[:end] if self._pending else data[:end]
        self._pending = data[end:]
        return complete

    def end(self) -> bytes:
        """Return the last line, if it has no line end."""
        tail, self._pending = self._pending, b""
        return tail

    def _begin(self, data: bytes) -> bytes:
        self._start = False
        if data.startswith(_UTF16):
            self._decoder = codecs.getincrementaldecoder("utf-16")("replace")
        return data.removeprefix(codecs.BOM_UTF8)

    def _without_nuls(self, data: bytes) -> bytes:
        """Return `data` with line ends for NUL bytes; a line that they cut ends with BREAK."""
        if not self._pending:
            data = data.lstrip(b"\0")
        data, places = _NULS.subn(BREAK + b"\n", data)
        self._notes.add(NUL_BYTES, count=max(1, places))
        return data.replace(b"\n" + BREAK + b"\n", b"\n")

    def _hold(self, pending: bytes) -> None:
        if len(pending) > MAX_LINE:
            self._notes.add(LONG_LINES, pending[:100], lost=True)
            self._skipping, pending = True, b""
        self._pending = pending
