"""A growing log, read as it comes, tells the same as the whole log does at its end."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaling_collapse.errors import LogError
from scaling_collapse.logs.follow import Follower
from scaling_collapse.logs.options import Options
from scaling_collapse.logs.tracker import Event
from tests.unit.logs.samples import SAMPLES, TRAIN, VALIDATION
from tests.unit.logs.support import RAW, points, read


def apply(updates):
    """Do what the updates say; return {(run, split): {step: loss}}."""
    runs, last = {}, ""
    for update in updates:
        rows = runs.setdefault(update.run, [])
        if update.event is Event.NEW_RUN and update.stretch > 1:
            old = runs[last]
            rows += old[1 - update.stretch :]
            del old[1 - update.stretch :]
        if update.event is Event.RESTART:
            new = rows[len(rows) + 1 - update.stretch :]
            rows[:] = [r for r in rows[: len(rows) + 1 - update.stretch] if r.step <= update.start] + new
        rows.append(update)
        last = update.run
    curves = {}
    for run, rows in runs.items():
        for row in rows:
            if row.step >= 1 and math.isfinite(row.loss) and row.loss > 0:
                curves.setdefault((run, row.split), {})[row.step] = row.loss
    return {key: sorted(curve.items()) for key, curve in curves.items() if len(curve) > 1}


def followed(content, size, **options):
    follower = Follower(Options(**options), run="some")
    updates = []
    for start in range(0, len(content), size):
        updates += follower.feed(content[start : start + size])
    return follower, updates + follower.end()


def curves_of(found):
    return {(c.run, c.split): list(zip(c.step.tolist(), c.loss.tolist(), strict=True)) for c in found.curves}


@pytest.mark.parametrize("size", [1, 7, 100, 10_000])
@pytest.mark.parametrize("name", SAMPLES)
def test_any_format_in_pieces(name, size):
    sample = SAMPLES[name]
    follower, updates = followed(sample.text.encode(), size)
    assert apply(updates).get(("some", "train"), []) == sample.train
    assert apply(updates).get(("some", "validation"), []) == sample.validation
    assert follower.parser is not None
    assert follower.parser.name == sample.format


@given(st.lists(st.integers(0, 12), min_size=2, max_size=30), st.integers(1, 200))
@settings(max_examples=150, deadline=None)
def test_restarts_and_second_runs_as_in_the_whole(steps, size):
    import tempfile
    from pathlib import Path

    text = "".join(f"iter {step}: loss {2 + i / 7:.4f}, time 1.00ms, mfu 1.00%\n" for i, step in enumerate(steps))
    _, updates = followed(text.encode(), size)
    got = apply(updates)
    with tempfile.TemporaryDirectory() as folder:
        try:
            expected = curves_of(read(Path(folder), text))
        except LogError:
            expected = {}
    assert got == expected


def test_a_restart_says_what_no_longer_holds():
    follower = Follower(run="r")
    line = "iter {}: loss {:.4f}, time 1.00ms, mfu 1.00%\n"
    follower.feed("".join(line.format(step, 4.0) for step in range(10, 60, 10)).encode())
    (again,) = follower.feed(line.format(30, 3.5).encode())
    assert (again.event, again.start, again.stretch) == (Event.RESTART, 30, 1)
    (on,) = follower.feed(line.format(40, 3.4).encode())
    assert (on.event, on.start, on.stretch) == (Event.ON, 30, 2)
    (new,) = follower.feed(line.format(10, 9.0).encode())
    assert (new.event, new.run) == (Event.NEW_RUN, "r (2)")


def test_nothing_comes_before_a_line_is_complete():
    follower = Follower()
    line = b"iter 5: loss 3.4567, time 1.00ms, mfu 1.00%"
    assert [len(follower.feed(line[i : i + 1])) for i in range(len(line))] == [0] * len(line)
    (update,) = follower.feed(b"\n")
    assert update[:4] == ("run", "train", 5, 3.4567)


def test_nan_is_passed_on():
    follower = Follower()
    (update,) = follower.feed(b"iter 5: loss nan, time 1.00ms, mfu 1.00%\n")
    assert math.isnan(update.loss)


def test_rotation_goes_on_with_the_next_file():
    follower = Follower()
    text = SAMPLES["lightning_csv"].text
    header, rest = text.split("\n", 1)
    place = rest.index("\n", len(rest) // 2) + 1
    updates = follower.feed((header + "\n" + rest[:place]).encode())
    updates += follower.feed(b"0,,9")
    follower.new_file()
    updates += follower.feed((header + "\n" + rest[place:]).encode()) + follower.end()
    got = apply(updates)
    assert got["run", "train"] == TRAIN
    assert got["run", "validation"] == VALIDATION


def test_a_split_stays_with_its_column():
    follower = Follower()
    updates = follower.feed(b'{"step": 1, "my_loss": 3}\n{"step": 2, "my_loss": 2.9}\n')
    updates += follower.feed(b'{"step": 2, "loss": 9, "val/loss": 4}\n{"step": 3, "my_loss": 2.8}\n')
    assert [(u.split, u.step, u.loss) for u in updates][-2:] == [("validation", 2, 4.0), ("train", 3, 2.8)]
    assert follower.columns == {"my_loss": "train", "val/loss": "validation"}


def test_a_named_column_is_waited_for():
    follower = Follower(Options(loss="loss"))
    updates = follower.feed(b'{"step": 1, "my_loss": 3}\n{"step": 2, "my_loss": 2.9, "loss": 5}\n')
    assert [(u.split, u.step, u.loss) for u in updates] == [("train", 2, 5.0)]


def test_public_logs_grow_as_they_are_read():
    if not RAW.exists():
        pytest.skip("public curves are not beside this checkout")
    from scaling_collapse.logs.read import read_logs

    for path in sorted(path for path in RAW.rglob("*") if path.is_file()):
        content = path.read_bytes()
        _, updates = followed(content, 50_000)
        got = apply(updates)
        expected = curves_of(read_logs([path], Options(run=None)))
        renamed = {(run if (run, split) in got else "some", split): curve for (run, split), curve in expected.items()}
        assert got == renamed, path


def test_notes_are_there_while_it_grows():
    follower = Follower()
    follower.feed(b"iter 5: loss 3.0, time 1.00ms\niter 6: loss x, time\n")
    assert [(note.what, note.count) for note in follower.notes] == [("damaged lines, left out", 1)]


def test_points_of_a_whole_file_are_the_same(tmp_path):
    found = read(tmp_path, SAMPLES["jsonl"].text)
    assert points(found) == TRAIN
