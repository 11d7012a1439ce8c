"""The user's command: once for each alarm, with the alarm in its environment, and never in the way of the watching."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest

from scaling_collapse.cli import on_alarm
from scaling_collapse.cli.on_alarm import OnAlarm, variables
from scaling_collapse.diagnose.alarm import Alarm

DUMP = f"{sys.executable} -c 'import json, os; print(json.dumps(dict(os.environ)))' >> seen.txt"


def an_alarm(run="a", step=7):
    return Alarm(run, "divergence", step, 0.25, False, (5, 9), 12, "the loss rose")


@pytest.fixture
def said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return []


def test_the_alarm_is_in_the_environment(said):
    hook = OnAlarm(DUMP, Path("x.log"), said.append)
    hook.add(an_alarm())
    hook.finish()
    seen = json.loads(Path("seen.txt").read_text())
    assert {name: value for name, value in seen.items() if name.startswith("COLLAPSE_")} == {
        "COLLAPSE_RUN": "a",
        "COLLAPSE_KIND": "divergence",
        "COLLAPSE_STEP": "7",
        "COLLAPSE_FRACTION": "0.2500",
        "COLLAPSE_RECOVERED": "0",
        "COLLAPSE_ALARM_STEP": "12",
        "COLLAPSE_EVIDENCE": "the loss rose",
        "COLLAPSE_LOG": str(Path("x.log").absolute()),
    }
    assert seen["PATH"] == os.environ["PATH"]
    assert said == []


@pytest.mark.parametrize(
    "name",
    ["x; touch hacked", "$(touch hacked)", "`touch hacked`", "'; touch hacked; '", '" && touch hacked #', "\0\n-x"],
)
def test_no_name_of_a_run_becomes_a_command(said, name):
    hook = OnAlarm('echo $COLLAPSE_RUN; echo "$COLLAPSE_RUN"', Path("x.log"), said.append)
    hook.add(an_alarm(name))
    hook.finish()
    assert not Path("hacked").exists()
    shown = "".join(character if character.isprintable() else "?" for character in name)
    assert said[-1] == f"--on-alarm: {shown}"


def test_commands_run_one_after_the_other_each_once(said):
    hook = OnAlarm("sleep .05; echo $COLLAPSE_STEP >> steps.txt", Path("x.log"), said.append)
    for step in range(5):
        hook.add(an_alarm(step=step))
        hook.look()
    hook.finish()
    assert Path("steps.txt").read_text().split() == ["0", "1", "2", "3", "4"]


def test_a_failing_command_is_told_and_the_next_one_runs(said):
    hook = OnAlarm("echo no mail >&2; exit 3", Path("x.log"), said.append)
    hook.add(an_alarm())
    hook.add(an_alarm())
    hook.finish()
    assert said == ["--on-alarm: no mail", "--on-alarm failed with exit code 3; the watching goes on"] * 2


def test_a_command_that_is_not_there_is_told(said):
    hook = OnAlarm("no-such-program", Path("x.log"), said.append)
    hook.add(an_alarm())
    hook.finish()
    assert said[-1] == "--on-alarm failed with exit code 127; the watching goes on"


def test_a_command_that_cannot_start_is_told(said, monkeypatch):
    def refuse(*words, **more):
        raise OSError("no processes left")

    monkeypatch.setattr(on_alarm.subprocess, "Popen", refuse)
    hook = OnAlarm("true", Path("x.log"), said.append)
    hook.add(an_alarm())
    hook.finish()
    assert said == ["--on-alarm could not be started (no processes left)"]


def test_a_long_command_is_left_to_itself(said, monkeypatch):
    monkeypatch.setattr(on_alarm, "LONGEST_SECONDS", 0.1)
    hook = OnAlarm("sleep 1; touch done", Path("x.log"), said.append)
    hook.add(an_alarm())
    begin = time.monotonic()
    hook.finish()
    assert time.monotonic() - begin < 0.8
    assert said == ["--on-alarm is not done after 0 s, and is left to itself"]


def test_looking_does_not_wait(said):
    hook = OnAlarm("sleep .3", Path("x.log"), said.append)
    hook.add(an_alarm())
    begin = time.monotonic()
    hook.look()
    hook.look()
    assert time.monotonic() - begin < 0.25
    hook.finish()


def test_without_a_command_nothing_happens(said):
    hook = OnAlarm(None, Path("x.log"), said.append)
    hook.add(an_alarm())
    hook.finish()
    assert said == []


def test_values_are_bounded():
    alarm = Alarm("r" * 100_000, "drift", 1, None, True, (1, 1), 1, "e")
    values = variables(alarm, Path("x"))
    assert len(values["COLLAPSE_RUN"]) == on_alarm.LONGEST_VALUE
    assert (values["COLLAPSE_FRACTION"], values["COLLAPSE_RECOVERED"]) == ("", "1")
