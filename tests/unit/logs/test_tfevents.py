"""TensorBoard files, against TensorBoard's own writer and reader."""

from __future__ import annotations

import gzip
import random

import numpy as np
import pytest

from scaling_collapse.errors import LogError
from scaling_collapse.logs.crc32c import crc32c, masked_crc
from scaling_collapse.logs.formats.tfevents import RESYNC
from scaling_collapse.logs.options import Options
from scaling_collapse.logs.read import read_logs
from tests.unit.logs.support import RAW, noted, points, read

LOSSES = [(step, float(np.float32(9.0 / step**0.3))) for step in range(1, 61)]


def test_crc_of_the_rfc():
    assert crc32c(bytes(32)) == 0x8A9136AA  # RFC 3720, B.4
    assert crc32c(b"123456789") == 0xE3069283  # the check value of the CRC catalogue
    assert crc32c(b"") == 0


@pytest.fixture
def event_file(tmp_path):
    """A file as torch's and Lightning's writers make it: scalars, tensors, other kinds of summary."""
    writer_module = pytest.importorskip("tensorboard.summary.writer.event_file_writer")
    from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2

    writer = writer_module.EventFileWriter(str(tmp_path / "run7"))

    def add(step, **value):
        summary = summary_pb2.Summary(value=[summary_pb2.Summary.Value(**value)])
        writer.add_event(event_pb2.Event(wall_time=1e9, step=step, summary=summary))

    for step, loss in LOSSES:
        add(step, tag="train/loss", simple_value=loss)
        add(step, tag="train/loss_scale", simple_value=65536.0)
        add(step, tag="image", image=summary_pb2.Summary.Image(height=1, width=1, encoded_image_string=b"x" * 5000))
        if step % 20 == 0:
            content = np.array(loss + 1).tobytes()
            add(step, tag="val/loss", tensor=tensor_pb2.TensorProto(dtype=2, tensor_content=content))
            add(step, tag="val/other_loss", tensor=tensor_pb2.TensorProto(dtype=1, float_val=[loss + 2]))
            add(step, tag="val/vector_loss", tensor=tensor_pb2.TensorProto(dtype=1, float_val=[1.0, 2.0]))
    writer.close()
    (path,) = (tmp_path / "run7").iterdir()
    return path


def test_scalars_and_tensors(event_file):
    found = read_logs([event_file], Options(all_losses=True))
    assert points(found, "train") == LOSSES
    assert points(found, "validation") == [(step, loss + 1) for step, loss in LOSSES if step % 20 == 0]
    others = {curve.split for curve in found.curves} - {"train", "validation"}
    assert others == {"val/other_loss"}
    assert {curve.run for curve in found.curves} == {"run7"}


def test_several_files_of_one_folder_are_one_run(event_file):
    again = event_file.with_name(event_file.name + ".1")
    again.write_bytes(event_file.read_bytes())
    found = read_logs([event_file, again])
    assert points(found, run="run7") == LOSSES


def test_it_can_be_gzip(event_file, tmp_path):
    found = read(tmp_path, gzip.compress(event_file.read_bytes()), "events.gz")
    assert points(found) == LOSSES


def test_a_cut_file_is_read_as_far_as_it_goes(event_file, tmp_path):
    content = event_file.read_bytes()
    for size in range(20_000, len(content), 20011):
        found = read(tmp_path, content[:size])
        got = points(found)
        assert got == LOSSES[: len(got)]
        assert any("missing end" in note.what for note in found.notes) or size == len(content)


def test_damaged_records_are_left_out_and_counted(event_file, tmp_path):
    content, chance = bytearray(event_file.read_bytes()), random.Random(1)
    for place in chance.sample(range(100, len(content)), 40):
        content[place] ^= 1 << chance.randrange(8)
    found = read(tmp_path, bytes(content))
    assert set(points(found)) < set(LOSSES)
    assert len(points(found)) > 20
    assert any(note.lost and note.count for note in found.notes)


def test_garbage_between_records_is_skipped_quickly(event_file, tmp_path):
    content = event_file.read_bytes()
    first = 16 + int.from_bytes(content[:8], "little")  # end of the first record
    for garbage in (bytes(3_000_000), random.Random(0).randbytes(300_000)):
        found = read(tmp_path, content[:first] + garbage + content[first:])
        assert points(found) == LOSSES
        assert noted(found, RESYNC) == len(garbage)


def test_the_header_alone_has_no_losses(event_file, tmp_path):
    with pytest.raises(LogError, match="no losses"):
        read(tmp_path, event_file.read_bytes()[:60])


def test_public_file_against_the_event_accumulator():
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    paths = list((RAW / "tfevents").glob("*"))
    if not paths:
        pytest.skip("public curves are not beside this checkout")
    (path,) = paths
    events = accumulator.EventAccumulator(str(path), size_guidance={"scalars": 0}).Reload()
    found = read_logs([path], Options(all_losses=True))
    for split, tag in (("train", "train_loss"), ("validation", "val_loss"), ("val_recon_nll", "val_recon_nll")):
        assert points(found, split) == [(event.step, event.value) for event in events.Scalars(tag)]


def test_masked_crc_is_tensorboards():
    writer = pytest.importorskip("tensorboard.summary.writer.record_writer")
    for data in (b"", b"x", bytes(range(256))):
        assert masked_crc(data) == writer.masked_crc32c(data)
