from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from scaling_collapse.diagnose.diagnose import WITHOUT_REFERENCE, diagnose_curve, diagnose_log
from scaling_collapse.diagnose.reference import Reference, reference_of
from scaling_collapse.errors import CurveError
from tests.unit.curves.support import curve
from tests.unit.diagnose.support import STEPS, T, after, course, noisy

STEP = np.arange(1, STEPS + 1)
REFERENCE = Reference(T, np.log(noisy(np.random.default_rng(100), course())), "sibling")


def diagnosed(truth, seed=0, reference=REFERENCE, **more):
    return diagnose_log("run", STEP, noisy(np.random.default_rng(seed), truth), STEPS, reference, **more)


@pytest.mark.parametrize(
    ("truth", "kind", "onset", "recovered"),
    [
        (course() * after(T, 0.6, 0.07), "drift", 0.6, False),
        (course() * after(T, 0.6, 0.02, 0.0), "drift", 0.6, False),
        (course() * after(T, 0.7, 0.9), "divergence", 0.7, False),
        (course() * (1 + 0.2 * ((T > 0.5) & (T < 0.52))), "spike", 0.5, True),
        (course() * (1 + 0.08 * T), "slow_convergence", 0.25, False),
    ],
)
def test_each_kind_is_told_with_its_onset(truth, kind, onset, recovered):
    (alarm,) = diagnosed(truth).alarms
    assert (alarm.kind, alarm.recovered) == (kind, recovered)
    low, high = alarm.onset_interval
    assert low <= alarm.onset_step <= high
    if kind != "slow_convergence":
        assert alarm.onset_fraction == pytest.approx(onset, abs=0.03)


def test_without_a_reference_less_is_seen_and_that_is_said():
    drift = diagnosed(course() * after(T, 0.6, 0.06), reference=None)
    assert drift.healthy
    assert drift.notes == (WITHOUT_REFERENCE,)
    assert diagnosed(course() * after(T, 0.6, 0.9), reference=None).alarms[0].kind == "divergence"
    assert diagnosed(course()).notes == ()


def test_a_run_that_overfits_parts_from_its_validation():
    steps = STEP[99::100]
    held_out = np.maximum(course()[99::100], course()[999]) + 0.4 * np.clip(T[99::100] - 0.5, 0, None)
    for reference in (None, REFERENCE):
        found = diagnosed(course(), reference=reference, validation=(steps, held_out))
        assert [alarm.kind for alarm in found.alarms] == ["train_validation_split"]
        assert found.alarms[0].onset_fraction == pytest.approx(0.55, abs=0.1)
    assert diagnosed(course(), validation=(steps, course()[99::100])).healthy


def test_healthy_programs_alarm_no_more_often_than_stated():
    """60 whole runs at 10%: more alarms than the bound come once in 1,000 tries."""
    rng, runs, alarms = np.random.default_rng(9), 60, 0
    for _ in range(runs):
        other = Reference(T[::4], np.log(noisy(rng, course(), 0.007)[::4]), "sibling")
        found = diagnose_log("run", STEP[::4], noisy(rng, course(), 0.007)[::4], STEPS, other, rate=0.1)
        alarms += not found.healthy
    assert alarms <= binom.ppf(0.999, runs, 0.1)


def test_a_curve_of_the_table_is_diagnosed_with_its_difficulty():
    rng = np.random.default_rng(10)
    difficulty = 0.15 * rng.standard_normal(STEPS)
    fault = after(T, 0.6, 0.04, 0.0)
    loss = noisy(rng, course(), 0.01) * fault + difficulty
    other = curve(noisy(rng, course(), 0.01), "other")
    sharp = diagnose_curve(curve(loss, "run", difficulty), reference_of(other))
    assert [alarm.kind for alarm in sharp.alarms] == ["drift"]
    assert sharp.alarms[0].alarm_step < 1300


def test_what_is_no_log_is_refused():
    with pytest.raises(CurveError, match="need equally many"):
        diagnose_log("run", [1, 2], [3.0])
    with pytest.raises(CurveError, match="one at least"):
        diagnose_log("run", [], [])
    with pytest.raises(CurveError, match="its validation curve is one of run b"):
        diagnose_curve(curve(course(), "a"), validation=curve(course(), "b"))
