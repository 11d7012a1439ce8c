"""TensorBoard event files, read record by record as they grow.

Framing: tensorflow/core/lib/io/record_writer.h (length, masked CRC of it, data, masked CRC of them). Messages:
tensorflow/core/util/event.proto and framework/summary.proto. Only scalars are looked at.
"""

from __future__ import annotations

import re
import struct

from scaling_collapse.logs import wire
from scaling_collapse.logs.crc32c import masked_crc
from scaling_collapse.logs.notes import Notes
from scaling_collapse.logs.options import Options
from scaling_collapse.logs.parser import DAMAGED, NAN, Row
from scaling_collapse.logs.records import Records

# Numbers of fields.
EVENT_STEP, EVENT_SUMMARY = 2, 5
SUMMARY_VALUE = 1
VALUE_TAG, VALUE_SIMPLE, VALUE_TENSOR = 1, 2, 8
TENSOR_TYPE, TENSOR_CONTENT, TENSOR_FLOATS, TENSOR_DOUBLES = 1, 4, 5, 6
#: tensorflow/core/framework/types.proto: how a scalar of each type is read.
SCALARS = {1: wire.float32, 2: wire.float64}

#: Longest record that is read; scalars have some hundred bytes, an image a megabyte.
MAX_RECORD = 1 << 26

RESYNC = "bytes of damaged records, left out"
CUT = "records with a missing end, left out (a cut file, or one being written)"


_NOT_ZERO = re.compile(rb"[^\0]")


class EventFile(Records):
    """Tags are columns."""

    name = "tfevents"
    whole_lines = False

    def __init__(self, options: Options, notes: Notes) -> None:
        super().__init__(options, notes)
        self._pending = b""
        self._losses: dict[str, bool] = {}
        self.said["step"] = ("step of each event", "--step")

    def new_file(self) -> None:
        """Forget an unfinished record."""
        self._pending = b""

    def read(self, data: bytes) -> list[Row]:
        """Return the losses of the records that `data` completes."""
        data = self._pending + data
        rows: list[Row] = []
        place = 0
        while place + 12 <= len(data):
            if not _has_right_length(data, place):
                place = self._resync(data, place)
                continue
            (length,) = struct.unpack_from("<Q", data, place)
            if length > MAX_RECORD:
                place += 1
                continue
            end = place + 12 + length
            if end + 4 > len(data):
                break
            content = data[place + 12 : end]
            if struct.unpack_from("<I", data, end)[0] == masked_crc(content):
                self._event(content, rows)
            else:
                self.notes.add(DAMAGED, lost=True)
            place = end + 4
        self._pending = data[place:]
        return rows

    def end(self, tail: bytes = b"") -> list[Row]:
        """Tell of an unfinished record."""
        rows = self.read(tail)
        if self._pending:
            self.notes.add(CUT, lost=True)
        return rows

    def _resync(self, data: bytes, place: int) -> int:
        """Return where the next record may begin: where the CRC of its length is right."""
        start = place
        while True:
            high = data.find(bytes(4), place + 5)  # the upper half of a length is zero
            if high < 0 or high + 8 > len(data):
                place = max(place + 1, len(data) - 11)
                break
            place = high - 4
            if data[place:high] == bytes(4):
                filled = _NOT_ZERO.search(data, place)
                place = max(place, (filled.start() if filled else len(data)) - 4)
            elif _has_right_length(data, place):
                break
        self.notes.add(RESYNC, count=place - start, lost=True)
        return place

    def _event(self, content: bytes, rows: list[Row]) -> None:
        step, summaries = 0, []
        try:
            for number, value in wire.fields(content):
                if number == EVENT_STEP:
                    step = wire.signed(value)
                elif number == EVENT_SUMMARY:
                    summaries.append(wire.message(value))
            for summary in summaries:
                for number, value in wire.fields(summary):
                    if number == SUMMARY_VALUE:
                        self._value(wire.message(value), step, rows)
        except ValueError:
            self.notes.add(DAMAGED, lost=True)

    def _value(self, content: bytes, step: int, rows: list[Row]) -> None:
        tag, loss = "", None
        for number, value in wire.fields(content):
            if number == VALUE_TAG:
                tag = wire.message(value).decode("utf-8", "replace")
                if not self._is_loss(tag):
                    return
            elif number == VALUE_SIMPLE:
                loss = wire.float32(value)
            elif number == VALUE_TENSOR:
                loss = _scalar(wire.message(value))
        if loss is not None and self._is_loss(tag):
            rows.append(("", tag, step, loss, NAN, NAN))

    def _is_loss(self, tag: str) -> bool:
        if tag not in self._losses:
            self._losses[tag] = bool(self.layout((tag,)).losses)
        return self._losses[tag]


def _has_right_length(data: bytes, place: int) -> bool:
    return bool(struct.unpack_from("<I", data, place + 8)[0] == masked_crc(data[place : place + 8]))


def _scalar(tensor: bytes) -> float | None:
    """Return the one number of a tensor of 32- or 64-bit floats; None for any other tensor."""
    found = dict(wire.fields(tensor))
    kind = found.get(TENSOR_TYPE)
    read = SCALARS.get(kind) if isinstance(kind, int) else None
    raw = found.get(TENSOR_CONTENT) or found.get(TENSOR_FLOATS if kind == 1 else TENSOR_DOUBLES)
    if read is None or raw is None or len(wire.message(raw)) != (4 if kind == 1 else 8):
        return None
    return read(raw)
