"""Files of W&B offline runs (run-*.wandb), without the wandb package.

Framing: the log format of LevelDB (doc/log_format.md there) after a header of 7 bytes, with zlib's CRC-32 instead of
CRC-32C (wandb/sdk/internal/datastore.py). Messages: wandb/proto/wandb_internal.proto. Values are JSON text.
"""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any

from scaling_collapse.logs import wire
from scaling_collapse.logs.notes import Notes
from scaling_collapse.logs.options import Options
from scaling_collapse.logs.parser import DAMAGED, Row
from scaling_collapse.logs.records import Records

HEADER = struct.pack("<4sHB", b":W&B", 0xBEE1, 0)
BLOCK, RECORD_HEADER = 1 << 15, 7
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4

# Numbers of fields.
RECORD_HISTORY, RECORD_RUN = 2, 17
RUN_ID, RUN_NAME = 1, 8
HISTORY_ITEM, HISTORY_STEP = 1, 2
ITEM_KEY, ITEM_NESTED_KEY, ITEM_JSON = 1, 2, 16
STEP_NUMBER = 1

#: Longest record that is put together; histories have some kilobytes.
MAX_RECORD = 1 << 26

CUT = "records with a missing end, left out (a cut file, or one being written)"


class WandbOffline(Records):
    """History records; keys are columns."""

    name = "wandb"
    whole_lines = False

    def __init__(self, options: Options, notes: Notes) -> None:
        super().__init__(options, notes)
        self.new_file()

    def new_file(self) -> None:
        """Expect a header."""
        self._pending = b""
        self._parts: list[bytes] = []
        self._begun = False

    def read(self, data: bytes) -> list[Row]:
        """Return the losses of the blocks that `data` completes."""
        self._pending += data
        rows: list[Row] = []
        while len(self._pending) >= BLOCK:
            self._block(self._pending[:BLOCK], rows)
            self._pending = self._pending[BLOCK:]
        return rows

    def end(self, tail: bytes = b"") -> list[Row]:
        """Return the losses of the last block."""
        rows = self.read(tail)
        self._block(self._pending, rows)
        if self._parts:
            self.notes.add(CUT, lost=True)
        return rows

    def _block(self, block: bytes, rows: list[Row]) -> None:
        """Read the records of one block; after a damaged one the rest of the block is left out, as LevelDB does."""
        place = 0
        if not self._begun:
            place, self._begun = len(HEADER), True
        while place + RECORD_HEADER <= len(block):
            crc, length, kind = struct.unpack_from("<IHB", block, place)
            content = block[place + RECORD_HEADER : place + RECORD_HEADER + length]
            if crc == length == kind == 0:  # space that was set aside and not written
                return
            if len(content) < length:
                self.notes.add(CUT, lost=True)
                return
            if zlib.crc32(content, zlib.crc32(bytes([kind]))) != crc:
                self.notes.add(DAMAGED, lost=True)
                self._parts = []
                return
            place += RECORD_HEADER + length
            self._part(kind, content, rows)

    def _part(self, kind: int, content: bytes, rows: list[Row]) -> None:
        if kind in (FULL, FIRST):
            self._parts = [content]
        elif self._parts and sum(map(len, self._parts)) < MAX_RECORD:
            self._parts.append(content)
        else:
            self._parts = []
            return
        if kind in (FULL, LAST):
            try:
                self._record(b"".join(self._parts), rows)
            except (ValueError, RecursionError):
                self.notes.add(DAMAGED, lost=True)
            self._parts = []

    def _record(self, content: bytes, rows: list[Row]) -> None:
        for number, value in wire.fields(content):
            if number == RECORD_HISTORY:
                self.record(_history(wire.message(value)), rows)
            elif number == RECORD_RUN:
                names = dict(wire.fields(wire.message(value)))
                name = names.get(RUN_NAME) or names.get(RUN_ID) or b""
                self.run = wire.message(name).decode("utf-8", "replace")


def _history(content: bytes) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for number, value in wire.fields(content):
        if number == HISTORY_STEP:
            record.setdefault("_step", wire.signed(dict(wire.fields(wire.message(value))).get(STEP_NUMBER, 0)))
        elif number == HISTORY_ITEM:
            keys, text = [], "null"
            for part, inner in wire.fields(wire.message(value)):
                if part in (ITEM_KEY, ITEM_NESTED_KEY):
                    keys.append(wire.message(inner).decode("utf-8", "replace"))
                elif part == ITEM_JSON:
                    text = wire.message(inner).decode("utf-8", "replace")
            record["/".join(keys)] = json.loads(text)
    return record
