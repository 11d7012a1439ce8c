"""The append log: exact floats, torn and damaged lines, truncation."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaling_collapse.errors import RunError
from scaling_collapse.train.log import MetricLog, read_log, truncate_log

finite = st.floats(allow_nan=False, allow_infinity=False)


def write(path: Path, steps: int) -> None:
    log = MetricLog(path)
    for step in range(1, steps + 1):
        log.append("train", step, loss_nats=5.0 - step / 3, learning_rate=0.1 / step)
        if step % 2 == 0:
            log.append("validation", step, loss_nats=6.0 - step / 7, bits_per_byte=None)
    log.sync()
    log.close()


@given(values=st.lists(st.tuples(finite, finite), max_size=5))
def test_floats_read_back_exactly(tmp_path_factory: pytest.TempPathFactory, values: list[tuple[float, float]]) -> None:
    path = tmp_path_factory.mktemp("log") / "metrics.log"
    log = MetricLog(path)
    for step, (loss, norm) in enumerate(values, start=1):
        log.append("train", step, loss_nats=loss, gradient_norm=norm)
    log.close()
    read = [(record.values["loss_nats"], record.values["gradient_norm"]) for record in read_log(path)]
    assert [tuple(map(float.hex, row)) for row in read] == [tuple(map(float.hex, row)) for row in values]


def test_a_write_cut_at_any_byte_loses_only_the_last_record(tmp_path: Path) -> None:
    path = tmp_path / "metrics.log"
    write(path, 3)
    whole, records = path.read_bytes(), read_log(path)
    last_line = len(whole.splitlines(keepends=True)[-1])
    for missing in range(1, last_line):
        path.write_bytes(whole[:-missing])
        assert read_log(path) == records[:-1]


def test_a_damaged_record_ends_the_log(tmp_path: Path) -> None:
    path = tmp_path / "metrics.log"
    write(path, 5)
    records, lines = read_log(path), path.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b"1", b"7", 1) if b"1" in lines[2] else lines[2][:-3] + b"9}\n"
    path.write_bytes(b"".join(lines))
    assert read_log(path) == records[:2]


def test_truncation_drops_later_records_and_appending_goes_on_behind_it(tmp_path: Path) -> None:
    path = tmp_path / "metrics.log"
    write(path, 6)
    path.write_bytes(path.read_bytes() + b"torn")
    kept = truncate_log(path, 4)
    assert [(record.split, record.step) for record in kept] == [
        ("train", 1),
        ("train", 2),
        ("validation", 2),
        ("train", 3),
        ("train", 4),
        ("validation", 4),
    ]
    log = MetricLog(path)
    log.append("train", 5, loss_nats=1.0)
    log.close()
    assert [record.step for record in read_log(path)] == [1, 2, 2, 3, 4, 4, 5]


def test_an_absent_log_is_empty(tmp_path: Path) -> None:
    assert read_log(tmp_path / "metrics.log") == truncate_log(tmp_path / "metrics.log", 3) == []


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "metrics.log"
    path.symlink_to("/dev/full")
    log = MetricLog(path)
    with pytest.raises(RunError, match=r"metrics.log: cannot be written .No space left on device"):
        log.append("train", 1, loss_nats=1.0)
