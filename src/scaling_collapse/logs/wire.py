"""The wire format of protocol buffers (protobuf.dev/programming-guides/encoding), as far as two logs need it.

Nothing is executed and nothing is trusted: every length is checked against the bytes that are there.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

#: Bytes of the longest varint.
MAX_VARINT = 10


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield (number, value) of a message's fields: whole numbers for varints, raw bytes for all others.

    Raises ValueError where the bytes are not a message.
    """
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        kind = key & 7
        if kind == VARINT:
            value, place = _varint(data, place)
            yield key >> 3, value
            continue
        if kind == BYTES:
            length, place = _varint(data, place)
        elif kind in (FIXED64, FIXED32):
            length = 8 if kind == FIXED64 else 4
        else:
            raise ValueError(f"wire type {kind}")
        if place + length > len(data):
            raise ValueError("field longer than its message")
        yield key >> 3, data[place : place + length]
        place += length


def float32(raw: int | bytes) -> float:
    """Return a little-endian 32-bit float. Raises ValueError if these are not its 4 bytes."""
    return float(_unpack("<f", raw))


def float64(raw: int | bytes) -> float:
    """Return a little-endian 64-bit float. Raises ValueError if these are not its 8 bytes."""
    return float(_unpack("<d", raw))


def signed(value: int | bytes) -> int:
    """Return an int64 from its varint. Raises ValueError if it is none."""
    if not isinstance(value, int):
        raise ValueError("not a varint")
    return value - 2**64 if value >= 2**63 else value


def message(value: int | bytes) -> bytes:
    """Return the bytes of a length-delimited field. Raises ValueError if it is a varint."""
    if isinstance(value, int):
        raise ValueError("not a message")
    return value


def _unpack(layout: str, raw: int | bytes) -> float:
    if isinstance(raw, int) or len(raw) != struct.calcsize(layout):
        raise ValueError("not a float of this size")
    return float(struct.unpack(layout, raw)[0])


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 7 * MAX_VARINT, 7):
        if place >= len(data):
            raise ValueError("varint beyond its message")
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (2**64 - 1), place
    raise ValueError("varint too long")
