"""Bytes to lines: gzip, encodings, line ends, NUL bytes, long lines, pieces of any size."""

from __future__ import annotations

import gzip
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scaling_collapse.errors import LogError
from scaling_collapse.logs.lines import LONG_LINES, MAX_LINE, NUL_BYTES, Lines
from scaling_collapse.logs.notes import Notes
from scaling_collapse.logs.source import AFTER_GZIP, CHUNK, CUT_GZIP, chunks
from scaling_collapse.logs.text import NOT_UTF8
from tests.unit.logs.samples import SAMPLES, TRAIN
from tests.unit.logs.support import note, noted, points, read

TEXT = SAMPLES["nanogpt"].text


def split_up(pieces):
    notes = Notes("x")
    lines = Lines(notes)
    blocks = [lines.feed(piece) for piece in pieces]
    assert all(block.endswith(b"\n") for block in blocks if block)
    return b"".join(blocks), lines.end(), {entry.what: entry.count for entry in notes}


@given(
    st.binary(max_size=60).map(lambda b: b.replace(b"\0", b"\n").replace(b"\r", b"\n")), st.lists(st.integers(0, 60))
)
@example(b"\xef\xbb\xbfa\nb", [3])
def test_pieces_come_out_as_the_whole(data, cuts):
    if data[:3].startswith((b"\xff", b"\xfe", b"\xef")):
        data = b"\n" + data
    places = [0, *sorted(cuts), len(data)]
    complete, tail, _ = split_up([data[a:b] for a, b in pairwise(places) if a < b])
    assert complete + tail == data


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends(tmp_path, encoding, ends):
    text = TEXT.replace("\n", ends)
    if encoding in ("utf-16-le", "utf-16-be"):
        text = "\ufeff" + text
    assert points(read(tmp_path, text.encode(encoding))) == TRAIN


def test_a_progress_bar_before_the_line(tmp_path):
    text = TEXT.replace("iter 20:", " 50%|#####     | 20/40 [00:01<00:01]\riter 20:")
    assert points(read(tmp_path, text)) == TRAIN


def test_nul_bytes_join_nothing(tmp_path):
    loss = f"loss {dict(TRAIN)[20]:.4f}"
    found = read(tmp_path, TEXT.encode().replace(loss.encode(), loss[:7].encode() + bytes(5) + loss[7:].encode()))
    assert points(found) == [pair for pair in TRAIN if pair[0] != 20]
    assert noted(found, NUL_BYTES) == 1
    assert noted(found, "damaged lines, left out") == 1


def test_bytes_that_are_not_utf8(tmp_path):
    for name in ("nanogpt", "jsonl", "lightning_csv", "trainer_state", "megatron"):
        sample = SAMPLES[name]
        content = sample.text.encode()
        place = content.index(b"\n", len(content) // 2) + 1
        bad = b"caf\xe9 \xff\xfe\n" if name != "trainer_state" else b""
        found = read(tmp_path, content[:place] + bad + content[place:])
        assert points(found) == sample.train
        assert points(found, "validation") == sample.validation


def test_a_name_in_another_encoding_is_counted(tmp_path):
    text = b'{"run": "caf\xe9", "step": 1, "loss": 3}\n{"run": "caf\xe9", "step": 2, "loss": 2}\n'
    found = read(tmp_path, text)
    assert points(found, run="caf\ufffd") == [(1, 3.0), (2, 2.0)]
    assert noted(found, NOT_UTF8) == 2


def test_a_line_without_end_is_not_held_in_memory():
    notes = Notes("x")
    lines = Lines(notes)
    for _ in range(40):
        assert lines.feed(b"x" * CHUNK) == b""
        assert len(lines._pending) <= MAX_LINE
    assert lines.feed(b"yyy\niter 5\n") == b"iter 5\n"
    assert [(entry.what, entry.count) for entry in notes] == [(LONG_LINES, 1)]


def test_gzip_of_one_and_of_several_members(tmp_path):
    half = TEXT.index("\n", len(TEXT) // 2) + 1
    for packed in (
        gzip.compress(TEXT.encode()),
        gzip.compress(TEXT[:half].encode()) + gzip.compress(TEXT[half:].encode()),
    ):
        found = read(tmp_path, packed, "run.log.gz")
        assert points(found) == TRAIN
        assert {curve.run for curve in found.curves} == {"run"}


def test_a_cut_gzip_is_read_as_far_as_it_goes(tmp_path):
    packed = gzip.compress(TEXT.encode())
    found = read(tmp_path, packed[: len(packed) * 2 // 3])
    assert 5 < len(points(found)) < len(TRAIN)
    assert points(found) == TRAIN[: len(points(found))]
    assert note(found, CUT_GZIP).lost


def test_a_number_at_the_end_of_a_cut_gzip_is_not_taken(tmp_path):
    rows = "".join(f"{step},{loss}\n" for step, loss in TRAIN)
    packed = gzip.compress(f"step,loss\n{rows}".encode(), compresslevel=0)  # stored: each byte cut off is a byte less
    for cut in range(8 + 5, 60):
        got = points(read(tmp_path, packed[:-cut]))
        assert got == TRAIN[: len(got)]


def test_a_damaged_gzip_is_an_error(tmp_path):
    packed = bytearray(gzip.compress(TEXT.encode(), compresslevel=0))
    packed[packed.index(b"loss 9.")] ^= 1  # stored, not compressed: only the checksum tells
    with pytest.raises(LogError, match=r"gzip data are damaged .* Fix: copy the file again"):
        read(tmp_path, bytes(packed))


def test_bytes_after_a_gzip_are_counted(tmp_path):
    found = read(tmp_path, gzip.compress(TEXT.encode()) + b"trailing")
    assert points(found) == TRAIN
    assert noted(found, AFTER_GZIP) == len("trailing")


@pytest.mark.parametrize("content", [b"", b"\n\n", b"hello\n", bytes(range(256)) * 500, b"\x1f\x8b", b"PAR1", b":W&B"])
def test_what_is_no_log_is_one_line(tmp_path, content):
    with pytest.raises(LogError) as caught:
        read(tmp_path, content)
    assert str(tmp_path / "some.log") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(LogError, match=r"cannot be read .No such file"):
        list(chunks(tmp_path / "none.log", Notes("x")))


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_any_format_in_any_pieces(data):
    """Fed in pieces of any size, a parser returns what it returns for the whole."""
    from scaling_collapse.logs.options import Options
    from scaling_collapse.logs.race import Race

    sample = SAMPLES[data.draw(st.sampled_from(sorted(SAMPLES)))]
    content = sample.text.encode()
    cuts = [0, *sorted(data.draw(st.lists(st.integers(1, len(content) - 1), max_size=12))), len(content)]
    race = Race(Options(format=sample.format), "x")
    rows = [row for a, b in pairwise(cuts) for row in race.feed(content[a:b])]
    rows += [row for rest in race.end() for row in rest]
    whole = Race(Options(format=sample.format), "x")
    expected = [*whole.feed(content), *(row for rest in whole.end() for row in rest)]
    assert repr(rows) == repr(expected)  # NaN is not equal to itself
    assert len(rows) >= len(sample.train) + len(sample.validation)
