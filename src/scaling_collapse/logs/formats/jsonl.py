"""One JSON object a line: custom loggers, W&B API histories, with lines of other things between them."""

from __future__ import annotations

import json

from scaling_collapse.logs.parser import DAMAGED, OTHER_LINES, Columns, Row, Rows
from scaling_collapse.logs.records import Records
from scaling_collapse.logs.text import decoded


class JsonLines(Records):
    """An object a line; other lines are counted."""

    name = "jsonl"

    def read(self, data: bytes) -> Rows:
        """Return the losses of whole lines; a fast way for blocks of objects with the same keys."""
        lines = [line for line in decoded(data, self.notes).split("\n") if line]
        columns = self._fast(lines)
        if columns is not None:
            return columns
        rows: list[Row] = []
        for line in lines:
            stripped = line.strip()
            if stripped[:1] != "{":
                if stripped:
                    self.notes.add(OTHER_LINES, line)
                continue
            try:
                self.record(json.loads(stripped), rows)
            except (ValueError, RecursionError):
                self.notes.add(DAMAGED, line, lost=True)
        return rows

    def end(self, tail: bytes = b"") -> Rows:
        """Return the losses of a last line without line end: JSON says itself whether it is complete."""
        return self.read(tail)

    def _fast(self, lines: list[str]) -> Columns | None:
        """Return the losses of lines that are all objects with the same keys; None if they are not.

        The lines are parsed at once, with a null between any two so that none can run into the next.
        """
        try:
            found = json.loads("[" + ",null,".join(lines) + "]")
        except (ValueError, RecursionError):
            return None
        records = found[::2]
        if len(records) != len(lines) or any(found[1::2]) or set(map(type, records)) != {dict}:
            return None
        keys = set(map(tuple, records))
        names = keys.pop()
        if keys or self.is_nested(names, records[0].values()):
            return None
        columns = list(zip(*(record.values() for record in records), strict=True))
        return self.take_columns(self.layout(names), columns)
