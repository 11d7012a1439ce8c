"""Offline W&B files, written here with Google's protobuf from the published message definitions."""

from __future__ import annotations

import json
import random
import struct
import zlib

import pytest

from scaling_collapse.logs.parser import DAMAGED
from tests.unit.logs.samples import TRAIN, VALIDATION
from tests.unit.logs.support import noted, points, read

pytest.importorskip("google.protobuf")


def messages():
    """The messages that matter, with the numbers of wandb/proto/wandb_internal.proto."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    text, integer, message = 9, 3, 11  # FieldDescriptorProto: TYPE_STRING, TYPE_INT64, TYPE_MESSAGE
    once, repeated = 1, 3
    fields = {
        "HistoryStep": [("num", 1, integer, once, "")],
        "HistoryItem": [
            ("key", 1, text, once, ""),
            ("nested_key", 2, text, repeated, ""),
            ("value_json", 16, text, once, ""),
        ],
        "HistoryRecord": [("item", 1, message, repeated, "HistoryItem"), ("step", 2, message, once, "HistoryStep")],
        "RunRecord": [
            ("run_id", 1, text, once, ""),
            ("project", 3, text, once, ""),
            ("display_name", 8, text, once, ""),
        ],
        "OutputRecord": [("line", 3, text, once, "")],
        "Record": [
            ("num", 1, integer, once, ""),
            ("history", 2, message, once, "HistoryRecord"),
            ("output", 4, message, once, "OutputRecord"),
            ("run", 17, message, once, "RunRecord"),
            ("uuid", 19, text, once, ""),
        ],
    }
    file = descriptor_pb2.FileDescriptorProto(name="w.proto", package="w", syntax="proto3")
    for name, parts in fields.items():
        entry = file.message_type.add(name=name)
        for field, number, kind, label, of in parts:
            entry.field.add(name=field, number=number, type=kind, label=label, type_name=f".w.{of}" if of else None)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"w.{name}")) for name in fields}


M = messages()
BLOCK, HEADER = 32768, 7


def framed(records):
    """LevelDB's log format as wandb writes it: blocks of 32 KiB, records cut at their ends, zlib's CRC."""
    out = bytearray(struct.pack("<4sHB", b":W&B", 0xBEE1, 0))
    for record in records:
        left, first = record, True
        while first or left:
            room = BLOCK - len(out) % BLOCK
            if room < HEADER:
                out += bytes(room)
                room = BLOCK
            part, left = left[: room - HEADER], left[room - HEADER :]
            kind = (1 if not left else 2) if first else (4 if not left else 3)
            out += struct.pack("<IHB", zlib.crc32(bytes([kind]) + part), len(part), kind) + part
            first = False
    return bytes(out)


def history(step, values, own_step=False):
    items = [M["HistoryItem"](key=key, value_json=json.dumps(value)) for key, value in values.items()]
    if own_step:
        return M["Record"](history=M["HistoryRecord"](item=items, step=M["HistoryStep"](num=step))).SerializeToString()
    items.append(M["HistoryItem"](key="_step", value_json=str(step)))
    return M["Record"](num=step, history=M["HistoryRecord"](item=items)).SerializeToString()


def a_file(own_step=False, padding=0):
    records = [
        M["Record"](run=M["RunRecord"](run_id="ab12", project="p", display_name="glad-sun-7")).SerializeToString()
    ]
    losses = dict(VALIDATION)
    for step, loss in TRAIN:
        records.append(M["Record"](output=M["OutputRecord"](line="x" * padding)).SerializeToString())
        values = {"train/loss": loss, "_runtime": 1.5, "hist": {"bins": [1, 2]}}
        if step in losses:
            values["eval/loss"] = losses[step]
        records.append(history(step, values, own_step))
    return framed(records)


@pytest.mark.parametrize("own_step", [False, True])
@pytest.mark.parametrize("padding", [0, 3000, 100_000])
def test_histories_are_read(tmp_path, own_step, padding):
    found = read(tmp_path, a_file(own_step, padding), "run-ab12.wandb")
    assert points(found, run="glad-sun-7") == TRAIN
    assert points(found, "validation") == VALIDATION
    assert noted(found, DAMAGED) == 0


def test_nested_keys(tmp_path):
    records = []
    for step, loss in TRAIN:
        item = M["HistoryItem"](nested_key=["train", "loss"], value_json=str(loss))
        step_item = M["HistoryItem"](key="_step", value_json=str(step))
        records.append(M["Record"](history=M["HistoryRecord"](item=[item, step_item])).SerializeToString())
    assert points(read(tmp_path, framed(records))) == TRAIN


def test_a_cut_file_is_read_as_far_as_it_goes(tmp_path):
    content = a_file(padding=3000)
    for size in range(20_000, len(content), 9973):
        got = points(read(tmp_path, content[:size]))
        assert got == TRAIN[: len(got)]
        assert len(got) >= 2


def test_damage_costs_the_rest_of_its_block(tmp_path):
    content, chance = bytearray(a_file(padding=3000)), random.Random(0)
    for _ in range(2):
        content[chance.randrange(1000, len(content))] ^= 0x10
    found = read(tmp_path, bytes(content))
    assert set(points(found)) < set(TRAIN)
    assert len(points(found)) > 5
    assert noted(found, DAMAGED) >= 1


def test_values_that_are_no_numbers(tmp_path):
    records = [history(step, {"loss": value}) for step, value in enumerate(["NaN", None, {"a": 1}, 3.5, 3.4], 1)]
    records.append(
        M["Record"](history=M["HistoryRecord"](item=[M["HistoryItem"](key="loss", value_json="{")])).SerializeToString()
    )
    found = read(tmp_path, framed(records))
    assert points(found) == [(4, 3.5), (5, 3.4)]
    assert noted(found, DAMAGED) == 1
