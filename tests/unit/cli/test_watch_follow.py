from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

import pytest

from scaling_collapse.cli.on_alarm import OnAlarm
from scaling_collapse.cli.watch_follow import follow, tell
from scaling_collapse.cli.watch_log import LogWatch
from scaling_collapse.cli.watch_setting import Setting
from scaling_collapse.errors import CurveError, LogError
from scaling_collapse.logs import race
from scaling_collapse.logs.options import Options
from tests.unit.cli.watch_support import SPIKE, STEPS, healthy, lines, write
from tests.unit.predict.support import grid, run, shape


@dataclass
class Told:
    """A screen, and a command, that remember what they were given."""

    alarms: list = field(default_factory=list)
    words: list = field(default_factory=list)
    commands: list = field(default_factory=list)
    looks: int = 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.words.append("over")

    def alarm(self, news):
        self.alarms.append((news.alarm.kind, news.alarm.recovered, news.new))

    def say(self, line):
        self.words.append(line)

    def status(self, watch, now=False):
        self.looks += 1

    def add(self, alarm):
        self.commands.append(alarm.kind)

    def look(self):
        pass

    def finish(self):
        pass


def new_watch(**setting):
    return LogWatch("x", Options(), Setting(**setting))


def test_an_alarm_is_told_again_when_it_changes_and_its_command_runs_once():
    watch, told = new_watch(), Told()
    for start in range(0, STEPS, 10):
        watch.feed(lines(SPIKE[start : start + 10]).encode())
        tell(watch, told, told)
    assert told.alarms == [("spike", False, True), ("spike", True, False)]
    assert told.commands == ["spike"]


def test_notes_are_told_a_few_times_and_run_no_command():
    watch, told = new_watch(), Told()
    for _ in range(20):
        watch.feed(lines(healthy()[5:10]).encode())
        tell(watch, told, told)
    assert told.alarms == [("several_runs", False, True)] * 19  # each is of a run of its own
    shuffled, told = new_watch(), Told()
    late = (point for i in range(3, 90, 3) for point in reversed(healthy()[i : i + 3]))
    shuffled.feed(lines([*healthy()[:3], *late]).encode())
    tell(shuffled, told, told)
    assert told.alarms == [("step_reset", False, True)] * 5
    assert len(shuffled.alarms) > 5
    assert told.commands == []


def test_words_are_said_once():
    watch, told = new_watch(total_steps=10), Told()
    watch.feed(lines(healthy()[:30]).encode())
    tell(watch, told, told)
    tell(watch, told, told)
    assert told.words == ["x: step 11 lies beyond its 10 steps"]


def test_what_is_written_meanwhile_is_read_and_an_unfinished_line_ends_with_its_file(tmp_path):
    log, watch, told = tmp_path / "x.log", new_watch(), Told()
    log.write_text(lines(healthy()[:500]) + "iter 501: loss 9")

    def write_on():
        time.sleep(0.2)
        log.rename(tmp_path / "x.log.1")
        log.write_text(lines(healthy()[500:]) + "iter 1001: loss 9")

    writer = threading.Thread(target=write_on)
    writer.start()
    follow(log, watch, told, told, seconds=0.6, wait=False)
    writer.join()
    assert watch.losses == STEPS
    assert watch.runs["x"].last["train"] == (STEPS, pytest.approx(healthy()[-1][1], abs=1e-5))
    assert told.words == [f"{log}: guessed format: nanogpt; train: column 'train loss'", "over"]
    assert told.looks == 2  # at the start and at the end


def test_the_screen_ends_whatever_happens(tmp_path):
    told, watch = Told(), new_watch()
    watch.feed = None  # the first loss fails
    with pytest.raises(TypeError):
        follow(write(tmp_path / "x.log", healthy()), watch, told, told, seconds=5, wait=False)
    assert told.words[-1] == "over"


def test_a_log_that_is_none_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(race, "MAX_PREAMBLE_LINES", 100)
    log, begin = tmp_path / "x.log", time.monotonic()
    log.write_text("nothing of use\n" * 101)
    with pytest.raises(LogError, match=r"x.log: no losses were recognised in it"):
        follow(log, new_watch(), Told(), OnAlarm(None, log, print), seconds=60, wait=False)
    assert time.monotonic() - begin < 50


def test_a_reference_without_a_length_is_told_at_the_first_loss(tmp_path):
    reference = run("small", 3 * shape(grid()), split="train")
    log = write(tmp_path / "x.log", healthy())
    with pytest.raises(CurveError, match=r"give it with --steps"):
        follow(log, new_watch(references=[reference]), Told(), Told(), seconds=60, wait=False)


def test_a_log_may_come_late_or_not_at_all(tmp_path):
    with pytest.raises(LogError, match=r"x.log: there is no such file"):
        follow(tmp_path / "x.log", new_watch(), Told(), Told(), seconds=0, wait=False)
    with pytest.raises(LogError, match=r"x.log: no losses were recognised"):
        follow(tmp_path / "x.log", new_watch(), Told(), Told(), seconds=0, wait=True)
