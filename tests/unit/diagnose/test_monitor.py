from __future__ import annotations

import json
import math

import numpy as np
import pytest

from scaling_collapse.diagnose.bins import MOST_BINS
from scaling_collapse.diagnose.diagnose import diagnose_log
from scaling_collapse.diagnose.monitor import MOST_TOLD, Monitor
from scaling_collapse.diagnose.reference import Reference
from scaling_collapse.errors import ConfigError, CurveError
from tests.unit.diagnose.support import STEPS, T, after, course, noisy

REFERENCE = Reference(T, np.log(noisy(np.random.default_rng(1), course())), "sibling")
FAULTY = noisy(np.random.default_rng(12), course() * after(T, 0.6, 0.08))


def fed(monitor, losses, first=1):
    return [alarm for step, loss in enumerate(losses, first) if (alarm := monitor.update(step, loss))]


def test_an_alarm_comes_as_the_loss_does_and_is_the_one_of_the_finished_log():
    monitor = Monitor("run", STEPS, REFERENCE)
    told = fed(monitor, FAULTY)
    monitor.finish()
    assert told[-1].kind == "drift"
    assert 0.6 < told[0].alarm_step / STEPS < 0.75
    at_once = diagnose_log("run", np.arange(1, STEPS + 1), FAULTY, STEPS, REFERENCE)
    assert tuple(monitor.alarms) == at_once.alarms


def test_a_monitor_survives_json_in_the_middle_of_a_fault():
    straight = Monitor("run", STEPS, REFERENCE)
    fed(straight, FAULTY)
    broken = Monitor("run", STEPS, REFERENCE)
    for first in range(0, STEPS, 333):
        fed(broken, FAULTY[first : first + 333], first + 1)
        broken = Monitor.from_state(json.loads(json.dumps(broken.state())), REFERENCE)
    assert broken.alarms == straight.alarms
    assert broken.state() == straight.state()


def test_the_state_is_small_however_long_the_run():
    monitor = Monitor("run")
    fed(monitor, (3 + 0.1 * np.random.default_rng(3).standard_normal(30_000)).tolist())
    assert len(monitor.train.bins) <= MOST_BINS
    assert len(json.dumps(monitor.state())) < 60_000


def test_another_reference_is_refused():
    state = Monitor("run", STEPS, REFERENCE).state()
    with pytest.raises(CurveError, match="had reference sibling, now it is None"):
        Monitor.from_state(state)


def test_a_rise_is_seen_without_reference_and_without_knowing_the_length():
    monitor = Monitor("run")
    told = fed(monitor, noisy(np.random.default_rng(4), course() * (1 + 0.5 * (T > 0.6))))
    assert told[0].onset_step == pytest.approx(1200, abs=15)
    assert told[0].alarm_step < 1300
    assert told[0].onset_fraction is None
    assert monitor.alarms[-1].kind == "divergence"


def test_a_restart_from_before_the_fault_repairs_it():
    monitor = Monitor("run", STEPS, REFERENCE)
    fed(monitor, FAULTY[:1700])
    assert not monitor.alarms[0].recovered
    fed(monitor, noisy(np.random.default_rng(5), course())[1099:], 1100)
    monitor.finish()
    assert [alarm.kind for alarm in monitor.alarms] == ["drift", "step_reset"]
    assert monitor.alarms[0].recovered


def test_after_a_restart_nothing_is_pulled_towards_the_losses_that_diverged():
    monitor = Monitor("run", STEPS)
    fed(monitor, noisy(np.random.default_rng(12), course() * after(T, 0.5, 1.5))[:1300])
    assert [alarm.kind for alarm in monitor.alarms] == ["divergence"]
    fed(monitor, noisy(np.random.default_rng(1), course())[900:], 901)  # the first step of a bin
    monitor.finish()
    assert [alarm.kind for alarm in monitor.alarms if not alarm.is_artefact] == ["divergence"]
    assert monitor.alarms[0].recovered


def test_a_split_that_a_restart_repairs_is_over_and_can_be_told_again():
    monitor = Monitor("run", STEPS, validation=True)
    losses = noisy(np.random.default_rng(13), course())
    for first, parts in ((0, 0.5), (500, 0.7)):
        for step in range(first + 1, STEPS + 1):
            monitor.update(step, losses[step - 1])
            if step % 50 == 0:
                monitor.update_validation(step, losses[step - 1] + max(0.0, 2 * (T[step - 1] - parts)))
    monitor.finish()
    splits = [alarm for alarm in monitor.alarms if alarm.kind == "train_validation_split"]
    assert [alarm.recovered for alarm in splits] == [True, False]
    assert splits[1].onset_fraction == pytest.approx(0.7, abs=0.1)


def test_another_run_in_the_same_log_starts_afresh():
    monitor = Monitor("run", STEPS, REFERENCE)
    fed(monitor, noisy(np.random.default_rng(6), course())[:1000])
    fed(monitor, noisy(np.random.default_rng(7), course()))
    monitor.finish()
    assert [alarm.kind for alarm in monitor.alarms] == ["several_runs"]
    assert monitor.train.bins.array("count").sum() == STEPS


def test_a_run_that_ends_in_nan_diverged():
    monitor = Monitor("run", STEPS)
    fed(monitor, [*noisy(np.random.default_rng(8), course())[:900], *[math.nan] * 5])
    kinds = [(alarm.kind, alarm.onset_step) for alarm in monitor.alarms]
    assert kinds == [("not_a_number", 901), ("divergence", 901)]


def test_a_loss_that_is_a_number_again_has_recovered():
    monitor = Monitor("run", STEPS)
    losses = noisy(np.random.default_rng(8), course())
    losses[900:910] = math.nan
    told = fed(monitor, losses)
    assert [(alarm.kind, alarm.recovered) for alarm in monitor.alarms] == [
        ("not_a_number", False),
        ("divergence", True),
    ]
    assert [alarm.alarm_step for alarm in told] == [901, 903, 903]


def test_a_log_out_of_order_does_not_fill_the_memory():
    monitor = Monitor("run", STEPS)
    for start in range(1, STEPS, 5):
        for step in (start, start + 2, start + 1):
            monitor.update(step, 3.0)
    assert [alarm.kind for alarm in monitor.alarms] == ["step_reset"] * MOST_TOLD


def test_a_step_that_is_no_number_is_a_fault_of_the_log():
    monitor = Monitor("run", STEPS)
    monitor.update(7, 3.0)
    for _ in range(4):
        monitor.update(math.nan, 3.0)
    assert [(alarm.kind, alarm.onset_step) for alarm in monitor.alarms] == [("not_a_number", 7), ("divergence", 7)]


def test_what_cannot_be_watched_is_refused():
    with pytest.raises(CurveError, match="length is not known, as a reference needs"):
        Monitor("run", None, REFERENCE)
    with pytest.raises(CurveError, match="must be positive"):
        Monitor("run", 0)
    for rate in (0.5, 0.0009, math.nan):  # lower ones are not held by the shares of single tests
        with pytest.raises(ConfigError, match=r"false alarms a run; must be 0.001 to 0.1"):
            Monitor("run", 10, rate=rate)
    with pytest.raises(CurveError, match="were not announced"):
        Monitor("run", 10).update_validation(1, 3.0)
