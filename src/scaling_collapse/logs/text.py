"""Bytes of a log to text, whatever they are."""

from __future__ import annotations

from scaling_collapse.logs.notes import Notes

NOT_UTF8 = "lines with bytes that are not UTF-8 (read with U+FFFD in their place)"


def decoded(data: bytes, notes: Notes) -> str:
    """Return whole lines as text; lines that are not UTF-8 are counted."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        for line in data.split(b"\n"):
            if "\ufffd" in line.decode("utf-8", "replace"):
                notes.add(NOT_UTF8, line)
        return data.decode("utf-8", "replace")
