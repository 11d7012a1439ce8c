"""What both callbacks share, without their frameworks: nothing that a watch does ends a training by accident."""

from __future__ import annotations

import subprocess
import sys

import pytest

from scaling_collapse.config.recipe import Schedule
from scaling_collapse.live.callback import WatchCallback
from scaling_collapse.live.training_watch import TrainingWatch
from tests.unit.live.support import STEPS, finished, losses
from tests.unit.live.test_optimizer import adamw


def test_a_watch_that_fails_ends_and_the_training_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    callback = WatchCallback("mine", finished())
    callback.begin("", STEPS, None)
    monkeypatch.setattr(TrainingWatch, "update", lambda *_: 1 / 0)
    with pytest.warns(UserWarning, match="the watch has failed, training goes on: ZeroDivisionError"):
        assert callback.take(1, 3.0) == []
    assert callback.watch is None
    assert callback.take(2, 3.0) == callback.end() == []
    assert callback.report(2) == ({}, [])
    assert not callback.stopping


def test_tau_and_schedule_come_from_the_trainer_unless_given() -> None:
    known = WatchCallback(tokens_per_parameter=20)
    own = known.begin("name", STEPS, adamw(), Schedule(kind="cosine")).own
    assert own.tau == pytest.approx(1 / (0.01 * 0.1 * STEPS))
    assert own.schedule == Schedule(kind="cosine")
    assert own.name == "name"
    given = WatchCallback("mine", finished(), tau=0.3).begin("name", STEPS, adamw(), Schedule(kind="cosine")).own
    assert (given.name, given.tau, given.schedule) == ("mine", 0.3, None)


def test_it_stops_at_a_fault_of_a_kind_that_is_wanted_and_stays() -> None:
    told = {}
    for wanted in (False, True, ["spike"]):
        callback = WatchCallback("mine", stop_on_alarm=wanted)
        callback.begin("", STEPS, None)
        for step, loss in enumerate(losses(1), 1):
            callback.take(step, loss * (1.5 if step > 100 else 1))
            if callback.stopping:
                break
        told[str(wanted)] = step
    assert told["False"] == STEPS
    assert 100 < told["['spike']"] < told["True"] < 100 + 0.2 * STEPS


@pytest.mark.parametrize(
    ("module", "framework", "extra"),
    [
        ("hf_trainer", "transformers", "hf"),
        ("lightning", "lightning", "lightning"),
    ],
)
def test_a_framework_that_is_not_installed_is_told_in_one_line(module: str, framework: str, extra: str) -> None:
    code = f"import sys; sys.modules[{framework!r}] = None; import scaling_collapse.live.{module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].endswith(
        f"ConfigError: {framework}: it is not installed. Fix: pip install 'scaling-collapse[{extra}]'"
    )
