"""Hugging Face's trainer_state.json, and any JSON file whose records are objects in one list.

The objects are taken one by one as they come, so a file that was cut is read as far as it goes.
"""

from __future__ import annotations

import codecs
import json

from scaling_collapse.logs.notes import Notes
from scaling_collapse.logs.options import Options
from scaling_collapse.logs.parser import DAMAGED, Row
from scaling_collapse.logs.records import Records
from scaling_collapse.logs.text import NOT_UTF8

#: Key of the list in a trainer_state.json (transformers, trainer_callback.py: TrainerState).
LIST_KEY = '"log_history"'

#: The list begins within so many characters, and one object is no longer than so many.
MAX_HEAD, MAX_OBJECT = 1 << 20, 1 << 20

#: Damaged objects after which the file is given up.
MAX_DAMAGED = 1000

GIVEN_UP = f"lists with over {MAX_DAMAGED:,} damaged objects: not read on"
CUT = "lists with a missing end: read as far as they go"

_SPACE = " \t\r\n,"


class JsonArray(Records):
    """Objects of the list under "log_history", or of a file that is one list."""

    name = "trainer_state"
    whole_lines = False

    def __init__(self, options: Options, notes: Notes) -> None:
        super().__init__(options, notes)
        self.new_file()

    def new_file(self) -> None:
        """Look for the list anew."""
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._text = ""
        self._state = "head"
        self._damaged = 0

    def read(self, data: bytes) -> list[Row]:
        """Return the losses of the objects that `data` completes."""
        return [] if self._state == "end" else self._more(data, final=False)

    def end(self, tail: bytes = b"") -> list[Row]:
        """Return what is left."""
        rows = self._more(tail, final=True)
        if self._state == "list":
            self.notes.add(CUT, lost=True)
        return rows

    def _more(self, data: bytes, final: bool) -> list[Row]:
        text = self._decoder.decode(data, final)
        if "\ufffd" in text:
            self.notes.add(NOT_UTF8)
        self._text += text
        return self._objects(final)

    def _objects(self, final: bool) -> list[Row]:
        rows: list[Row] = []
        if self._state == "head":
            self._find_list()
        decoder, text, start = json.JSONDecoder(), self._text, 0
        while self._state == "list":
            while start < len(text) and text[start] in _SPACE:
                start += 1
            if start == len(text):
                break
            if text[start] == "]":
                self._state = "end"
                break
            try:
                found, start = decoder.raw_decode(text, start)
                if isinstance(found, dict):
                    self.record(found, rows)
            except RecursionError:
                self.notes.add(DAMAGED, text[start : start + 100], lost=True)
                self._state = "end"
            except ValueError:
                if not final and len(text) - start < MAX_OBJECT:
                    break
                start = self._after_damage(text, start)
        if self._state == "list":
            self._text = text[start:]
        return rows

    def _after_damage(self, text: str, start: int) -> int:
        """Return where the next object may begin."""
        self.notes.add(DAMAGED, text[start : start + 100], lost=True)
        self._damaged += 1
        if self._damaged > MAX_DAMAGED:
            self.notes.add(GIVEN_UP, lost=True)
            self._state = "end"
        place = text.find("{", start + 1)
        return len(text) if place < 0 else place

    def _find_list(self) -> None:
        text = self._text.lstrip()
        if not text:
            return
        place = 0 if text[0] == "[" else text.find(LIST_KEY)
        begin = text.find("[", place) if place >= 0 else -1
        if begin >= 0:
            self._state, self._text = "list", text[begin + 1 :]
        elif text[0] not in "{[" or len(text) > MAX_HEAD:
            self._state, self._text = "end", ""
