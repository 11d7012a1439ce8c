"""A file as chunks of bytes, unpacked where it is gzip; never more than a chunk at a time in memory."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

from scaling_collapse.errors import LogError
from scaling_collapse.logs.lines import BREAK
from scaling_collapse.logs.notes import Notes

CHUNK = 1 << 18
#: The first chunk is smaller: all formats race on it.
FIRST_CHUNK = 1 << 15

GZIP = b"\x1f\x8b"
#: zlib's window bits for a gzip member with header and checksum.
_GZIP_BITS = 31

CUT_GZIP = "gzip streams with a missing end (no checksum): read as far as they go"
AFTER_GZIP = "bytes after the end of the gzip stream, left out"


def chunks(path: Path, notes: Notes) -> Iterator[bytes]:
    """Yield the content of `path`; where a gzip stream is cut, BREAK follows what there is.

    Raises LogError if the file cannot be read, or if a gzip checksum says that it is damaged.
    """
    try:
        with path.open("rb") as file:
            first = file.read(FIRST_CHUNK)
            raw = _with(first, iter(lambda: file.read(CHUNK), b""))
            yield from _unpacked(raw, path, notes) if first.startswith(GZIP) else raw
    except OSError as error:
        raise LogError(str(path), f"cannot be read ({error.strerror or error}).") from None


def _with(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


def _unpacked(raw: Iterator[bytes], path: Path, notes: Notes) -> Iterator[bytes]:
    """Unpack one gzip member after another; each is checked at its end against its length and CRC."""
    stream = zlib.decompressobj(_GZIP_BITS)
    for packed in raw:
        while packed:
            if stream.eof:
                if not packed.startswith(GZIP[:1]):
                    notes.add(AFTER_GZIP, count=len(packed))
                    return
                stream = zlib.decompressobj(_GZIP_BITS)
            try:
                plain = stream.decompress(packed, CHUNK)
            except zlib.error as error:
                raise LogError(str(path), f"its gzip data are damaged ({error}).", "copy the file again") from None
            packed = stream.unconsumed_tail or stream.unused_data
            if plain:
                yield plain
    if not stream.eof:
        notes.add(CUT_GZIP, lost=True)
        yield stream.flush() + BREAK
