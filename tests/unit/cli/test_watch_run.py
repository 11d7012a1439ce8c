from __future__ import annotations

import json

import pytest

from scaling_collapse.cli.watch_run import ALONE, TOLD_NOTES, WatchedRun, alarm_line, counts, is_told, printable
from scaling_collapse.diagnose.alarm import Alarm
from scaling_collapse.live.training_watch import TrainingWatch
from tests.unit.cli.watch_support import DIVERGING, STEPS, healthy


def make(validation):
    return TrainingWatch("run", STEPS, validation=validation)


def points_of(monitor_stream):
    return monitor_stream.bins.array("count").sum() + monitor_stream.bins.open[0]


def test_training_losses_are_judged_and_validation_losses_beside_them():
    run = WatchedRun(make)
    for step, loss in healthy():
        if step % 100 == 1:
            run.take("validation", step, loss + 0.1)
        run.take("train", step, loss)
    assert (run.main, run.held_out) == ("train", "validation")
    assert points_of(run.watch.monitor.train) == STEPS
    assert points_of(run.watch.monitor.validation) == 10
    assert run.losses == STEPS + 10
    assert run.last == {"train": healthy()[-1], "validation": (901, healthy()[900][1] + 0.1)}


def test_a_log_of_validation_losses_alone_is_judged_by_them():
    run = WatchedRun(make)
    for step, loss in DIVERGING[::10]:
        run.take("val_c4", step, loss)
        run.take("val_pile", step, 9.0)
    run.end()
    assert (run.main, run.held_out) == ("val_c4", None)
    assert points_of(run.watch.monitor.train) == STEPS / 10
    assert [alarm.kind for alarm in run.alarms] == ["divergence"]


def test_few_validation_losses_are_judged_at_the_end():
    run = WatchedRun(make)
    for step, loss in healthy()[: ALONE - 1]:
        run.take("validation", step, loss)
    assert run.main is None
    run.end()
    assert points_of(run.watch.monitor.train) == ALONE - 1


def test_training_losses_that_come_late_are_the_ones_that_count():
    run = WatchedRun(make)
    for step in range(1, ALONE + 1):
        run.take("validation", step, 9.0)
    assert run.main == "validation"
    run.take("train", ALONE, 8.0)
    run.take("validation", ALONE + 1, 9.0)
    assert run.main == "train"
    assert points_of(run.watch.monitor.train) == points_of(run.watch.monitor.validation) == 1


@pytest.mark.parametrize(
    ("splits", "main", "held_out"),
    [
        (["validation", "train"], "train", "validation"),
        (["loss", "val", "test"], "loss", "val"),
        (["val_c4", "val_pile"], "val_c4", None),
        (["c4", "train"], "train", None),
    ],
)
def test_roles_of_known_splits(splits, main, held_out):
    run = WatchedRun(make, splits)
    assert (run.main, run.held_out) == (main, held_out)
    assert run.watch.monitor.judge.validation == (held_out is not None)
    for split in splits:
        run.take(split, 1, 3.0)


def test_what_came_since_a_snapshot_can_be_taken_back():
    run = WatchedRun(make)
    for point in healthy()[:500]:
        run.take("train", *point)
    before = run.snapshot()
    expected = json.dumps(before)
    for point in DIVERGING[200:700]:
        run.take("train", *point)
    assert json.dumps(run.snapshot()) != expected
    run.restore(before)
    assert json.dumps(run.snapshot()) == expected


def an_alarm(kind, run="a", step=1):
    return Alarm(run, kind, step, 0.5, False, (step, step), step, "because")


def test_faults_of_the_log_do_not_count_and_read_differently():
    assert counts(an_alarm("spike"))
    assert not counts(an_alarm("step_reset"))
    assert alarm_line(an_alarm("spike")) == "ALARM a: spike from step 1 (50%): because"
    assert alarm_line(an_alarm("step_reset")) == "note  a: step reset: because"


def test_many_notes_of_one_kind_are_told_in_part():
    alarms = [an_alarm("step_reset", step=step) for step in range(20)] + [an_alarm("spike")]
    assert sum(is_told(alarm, alarms) for alarm in alarms) == TOLD_NOTES + 1
    assert is_told(alarms[-1], alarms)


def test_names_cannot_steer_the_terminal():
    assert alarm_line(an_alarm("spike", "a\x1b[2J\nb")).startswith("ALARM a?[2J?b: ")
    assert printable("née 東") == "née 東"
