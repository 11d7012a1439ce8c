"""A growing log gives the alarms of the finished one, in pieces of any size, whatever it goes through."""

from __future__ import annotations

import pytest

from scaling_collapse.cli.watch_finished import read_finished, watch_finished
from scaling_collapse.cli.watch_log import Bulletin, LogWatch, News
from scaling_collapse.cli.watch_setting import Setting
from scaling_collapse.diagnose.alarm import Alarm
from scaling_collapse.logs.options import Options
from tests.unit.cli.watch_support import DIVERGING, NAN, SPIKE, STEPS, healthy, lines, write

EVERY_TENTH, OFF_BY_FIVE = slice(9, None, 10), slice(4, None, 10)
LOGS = {
    "healthy": healthy(),
    "diverging": DIVERGING,
    "spike": SPIKE,
    "restart": healthy()[:600] + healthy(1)[400:],
    "restart of a diverged run": DIVERGING[:700] + healthy(1)[400:],
    "restart at other steps": healthy()[:600][EVERY_TENTH] + healthy(1)[400:][OFF_BY_FIVE],
    "two runs": DIVERGING + healthy(1),
    "two runs at other steps": DIVERGING[EVERY_TENTH] + [(s - 5, loss) for s, loss in healthy(1)[EVERY_TENTH]],
    "another run that logs more often": DIVERGING[EVERY_TENTH] + healthy(1)[4::5],
    "not a number": [*healthy()[:500], *[(step, NAN) for step in range(501, 520)]],
    "twice": [point for point in healthy() for _ in range(2)],
}
WANTED = {
    "healthy": [],
    "diverging": [("x", "divergence", False)],
    "spike": [("x", "spike", True)],
    "restart": [("x", "step_reset", False)],
    "restart of a diverged run": [("x", "divergence", True), ("x", "step_reset", False)],
    "restart at other steps": [("x", "step_reset", False)],
    "two runs": [("x", "divergence", False), ("x (2)", "several_runs", False)],
    "another run that logs more often": [("x", "divergence", False), ("x (2)", "several_runs", False)],
    "not a number": [("x", "not_a_number", False), ("x", "divergence", False)],
    "twice": [("x", "duplicated_steps", False)],
}


def fed(points, size, steps=STEPS):
    watch = LogWatch("x", Options(), Setting(total_steps=steps))
    data = lines(points).encode()
    for start in range(0, len(data), size):
        watch.feed(data[start : start + size])
    watch.end()
    return watch


def seen(alarms):
    return [(alarm.run, alarm.kind, alarm.recovered) for alarm in alarms]


@pytest.mark.parametrize("name", WANTED)
def test_alarms_of_a_growing_log(name):
    watch = fed(LOGS[name], 5000)
    assert seen(watch.alarms) == WANTED[name]
    assert watch.losses == len(LOGS[name])
    assert sum(run.losses for run in watch.runs.values()) == len(LOGS[name])


@pytest.mark.parametrize("name", LOGS)
def test_the_finished_log_gives_the_same(name, tmp_path):
    found = read_finished(write(tmp_path / "x.log", LOGS[name]), Options())
    runs = watch_finished(found.runs, Setting(total_steps=STEPS))
    growing = fed(LOGS[name], 37)
    assert [alarm.as_json() for run in runs.values() for alarm in run.alarms] == [
        alarm.as_json() for alarm in growing.alarms
    ]
    assert {name: run.losses for name, run in runs.items()} == {n: run.losses for n, run in growing.runs.items()}


def test_a_stretch_that_turns_out_to_be_another_run_leaves_no_trace_in_the_first():
    name = "another run that logs more often"
    alone, both = fed(DIVERGING[EVERY_TENTH], 5000), fed(LOGS[name], 5000)
    assert both.runs["x"].alarms == alone.runs["x"].alarms
    assert both.runs["x (2)"].losses == STEPS / 5
    assert both.alarms[-1].evidence == "after step 1000 of x another run begins at step 5"


def test_a_new_file_goes_on_with_the_run_and_gives_up_the_unfinished_line():
    watch = LogWatch("x", Options(), Setting())
    watch.feed(lines(healthy()[:500]).encode() + b"iter 501: loss 99")
    watch.new_file()
    watch.feed(lines(healthy()[500:]).encode())
    assert watch.losses == STEPS
    assert list(watch.runs) == ["x"]
    assert watch.alarms == []


def test_alarms_are_news_once_and_again_when_they_change():
    watch = LogWatch("x", Options(), Setting())
    told = []
    for start in range(0, STEPS, 10):
        watch.feed(lines(SPIKE[start : start + 10]).encode())
        told += [(news.alarm.kind, news.alarm.recovered, news.new) for news in watch.news()]
    watch.end()
    assert told == [("spike", False, True), ("spike", True, False)]
    assert watch.news() == []


def test_bulletin():
    first, second = (Alarm("a", "spike", step, None, False, (1, 1), 1, "") for step in (1, 2))
    lasting = Alarm("a", "divergence", 1, None, False, (1, 1), 1, "")
    board = Bulletin()
    assert board.news({"a": [first], "b": []}) == [News(first, True)]
    assert board.news({"a": [first, second]}) == [News(second, True)]
    assert board.news({"a": [lasting, second]}) == [News(lasting, False)]
    assert board.news({"a": [lasting]}) == []
    assert board.news({"a": [lasting, second]}) == [News(second, True)]


def test_a_run_that_is_longer_than_was_said_is_named_once():
    watch = fed(healthy(), 1000, steps=500)
    assert watch.said == ["x: step 506 lies beyond its 500 steps"]
