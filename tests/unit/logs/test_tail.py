"""A file that grows, is rotated, cut short or comes late: every byte once, in order."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from scaling_collapse.errors import LogError
from scaling_collapse.logs.tail import Tail


def read(tail: Tail) -> tuple[bytes, int]:
    """What came since the last time, and how many new files began."""
    pieces = list(tail.pieces())
    return b"".join(piece for piece, _ in pieces), sum(begins for _, begins in pieces)


def test_only_what_is_new_comes(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with Tail(log) as tail:
        assert read(tail) == (b"", 0), "it need not be there yet"
        log.write_bytes(b"one\n")
        assert read(tail) == (b"one\n", 0)
        assert read(tail) == (b"", 0)
        with log.open("ab") as file:
            file.write(b"two\nthr")
        assert read(tail) == (b"two\nthr", 0)


def test_a_rotated_file_is_read_to_its_end_first(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"one\n")
    with Tail(log) as tail:
        read(tail)
        with log.open("ab") as file:
            file.write(b"two\n")
        log.rename(tmp_path / "log.1")
        assert read(tail) == (b"two\n", 0), "the new file is not there yet"
        with (tmp_path / "log.1").open("ab") as file:
            file.write(b"late\n")
        log.write_bytes(b"three\n")
        assert read(tail) == (b"late\nthree\n", 1)
        assert tail.rotations == 1


def test_a_file_that_was_cut_short_begins_anew(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"one\ntwo\n")
    with Tail(log) as tail:
        read(tail)
        os.truncate(log, 0)
        log.write_bytes(b"new\n")
        assert read(tail) == (b"new\n", 1)


def test_a_folder_is_refused_in_one_line(tmp_path: Path) -> None:
    with Tail(tmp_path) as tail, pytest.raises(LogError, match="is a folder"):
        read(tail)


def test_no_line_is_lost_while_somebody_writes_and_rotates(tmp_path: Path) -> None:
    log, lines = tmp_path / "log", 3000

    def write() -> None:
        for number in range(lines):
            with log.open("ab") as file:
                file.write(f"{number}\n".encode())
            if number % 1000 == 999:
                log.rename(tmp_path / f"log.{number}")

    writer = threading.Thread(target=write)
    found = b""
    with Tail(log) as tail:
        writer.start()
        while writer.is_alive():
            found += read(tail)[0]
            time.sleep(0.001)
        found += read(tail)[0]
    assert found.split() == [str(number).encode() for number in range(lines)]
