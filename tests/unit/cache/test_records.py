"""Records as somebody else may have written them."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from scaling_collapse.cache.records import LARGEST_RECORD, is_record, read_record, write_record
from scaling_collapse.errors import DamagedError
from scaling_collapse.identity.hashing import Content
from scaling_collapse.identity.stage import Record, Stage, key_of, value_of

STAGE = Stage("run-a", "Train a", "train", "train a", {"lr": 1.0}, ("tokens",), ("out/a.bin",), ("a.log",))
RECORD = STAGE.record({path: Content("0123456789abcdef" * 2, 7) for path in (*STAGE.inputs, *STAGE.files)})


def read(record: Record, key: str | None = None, value: str | None = None) -> Record:
    return read_record(write_record(record), key or key_of(record), value or value_of(record))


def test_what_is_written_is_read_again() -> None:
    assert read(RECORD) == RECORD
    assert is_record(RECORD)


def changed(part: str, **entries: object) -> Record:
    return {**RECORD, part: [{**RECORD[part][0], **entries}, *RECORD[part][1:]]}


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../../outside", "out/../../outside", "out/c.bin", "~/x", "out/a.bin\n"]
)
def test_a_record_cannot_name_another_path_than_its_stage_declares(path: str) -> None:
    with pytest.raises(DamagedError, match="another key"):
        read(changed("outs", path=path), key=key_of(RECORD))


@pytest.mark.parametrize(
    "record",
    [
        changed("outs", md5="0123456789abcdef" * 2 + ".dir"),
        changed("outs", md5="../../../../etc/passwd"),
        changed("outs", md5="0123456789ABCDEF" * 2),
        changed("outs", hash="sha1"),
        changed("outs", size=-1),
        changed("outs", size="7"),
        changed("outs", size=7.0),
        changed("outs", files=[{"relpath": f"f{n}", "md5": "0" * 32} for n in range(1000)]),
        changed("outs", cloud={"lab": {"etag": "x"}}),
        {**RECORD, "cmd": ["a", "b"]},
        {**RECORD, "params": {}},
        {**RECORD, "outs": {}},
        {**RECORD, "outs": None},
    ],
    ids=str,
)
def test_a_record_of_another_shape_is_refused(record: Record) -> None:
    with pytest.raises(DamagedError, match="is not a record"):
        read_record(write_record(record), key_of(RECORD), value_of(RECORD))


def test_other_content_than_the_name_says_is_refused() -> None:
    with pytest.raises(DamagedError, match="does not hash to its name"):
        read(changed("outs", md5="f" * 32), value=value_of(RECORD))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe\x00",
        b"- a\n- b\n",
        b"cmd: [",
        b"!!python/object/apply:os.system ['true']",
        b"[" * 100_000,
        b"cmd: " + b"x" * LARGEST_RECORD,
        yaml.safe_dump(RECORD).encode()[:-20],
    ],
    ids=["empty", "not text", "a list", "cut", "python object", "deep", "huge", "truncated"],
)
def test_garbage_is_refused_in_one_line(data: bytes) -> None:
    with pytest.raises(DamagedError) as caught:
        read_record(data, key_of(RECORD), value_of(RECORD))
    assert "\n" not in str(caught.value)


def test_aliases_that_would_grow_without_bound_are_refused_at_once() -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 40)]
    with pytest.raises(DamagedError, match="aliases"):
        read_record("\n".join(lines).encode(), key_of(RECORD), value_of(RECORD))


@given(st.integers(0, 10_000), st.integers(0, 255))
def test_no_changed_byte_goes_unnoticed(position: int, byte: int) -> None:
    data = bytearray(write_record(RECORD))
    position %= len(data)
    changed_data = bytes(data[:position]) + bytes([byte]) + bytes(data[position + 1 :])
    try:
        assert read_record(changed_data, key_of(RECORD), value_of(RECORD)) == RECORD
    except DamagedError:
        assert changed_data != bytes(data)
