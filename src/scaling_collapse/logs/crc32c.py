"""CRC-32C (Castagnoli, RFC 3720 appendix B.4) and its masked form, which guards the records of TensorBoard files."""

from __future__ import annotations

#: The reversed polynomial of CRC-32C.
_POLYNOMIAL = 0x82F63B78

#: What masked_crc adds: tensorflow/core/lib/hash/crc32c.h, kMaskDelta.
_MASK_DELTA = 0xA282EAD8


def _table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
        table.append(value)
    return tuple(table)


_TABLE = _table()


def crc32c(data: bytes) -> int:
    """Return the CRC-32C of `data`."""
    value, table = 0xFFFFFFFF, _TABLE
    for byte in data:
        value = value >> 8 ^ table[(value ^ byte) & 0xFF]
    return value ^ 0xFFFFFFFF


def masked_crc(data: bytes) -> int:
    """Return the CRC-32C rotated right by 15 bits, plus a constant."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF
