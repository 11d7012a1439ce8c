"""A watch predicts and alarms like the parts that it is made of, forgets nothing over a restart, and stays small."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaling_collapse.config.recipe import Schedule
from scaling_collapse.diagnose.diagnose import diagnose_log
from scaling_collapse.diagnose.reference import reference_of
from scaling_collapse.errors import ConfigError, CurveError
from scaling_collapse.live.training_watch import PREDICT_FROM, TrainingWatch
from scaling_collapse.predict.predict import predict_run
from scaling_collapse.predict.template import template_of
from scaling_collapse.surrogate.form import PAPER
from scaling_collapse.surrogate.published import published_of
from scaling_collapse.surrogate.stored import StoredSurrogate
from tests.unit.diagnose.support import after
from tests.unit.live.support import STEPS, T, finished, losses
from tests.unit.predict.support import run

RECIPE = {"tokens_per_parameter": 20.0, "tau": 0.2}


def fed(watch: TrainingWatch, values: np.ndarray, upto: float = 1.0, begin: int = 0) -> TrainingWatch:
    for step in range(begin + 1, round(upto * len(values)) + 1):
        watch.update(step, float(values[step - 1]))
    return watch


def test_it_predicts_what_predict_run_predicts_from_the_same_part() -> None:
    values, reference = losses(1), finished()
    watch = fed(TrainingWatch("mine", STEPS, reference, **RECIPE), values, upto=0.5)
    mine = run("mine", values, split="train")
    expected = predict_run(mine, template_of(reference), at=0.5)
    found = watch.prediction()
    assert found is not None
    assert found.predicted_final_loss == pytest.approx(expected.predicted_final_loss, rel=2e-3)
    assert found.half_width_percent == pytest.approx(expected.half_width_percent, rel=0.3)
    assert found.low is not None
    assert found.high is not None
    assert found.low < np.mean(values[-20:]) < found.high
    assert found.warnings == ()


def test_it_alarms_where_the_diagnosis_of_the_whole_log_alarms() -> None:
    values, reference = losses(1) * after(T, 0.6, 0.2), finished()
    watch = fed(TrainingWatch("mine", STEPS, reference, **RECIPE), values)
    watch.finish()
    expected = diagnose_log("mine", T * STEPS, values, STEPS, reference_of(reference)).alarms
    assert watch.alarms == list(expected)
    assert abs(watch.alarms[0].onset_step - 0.6 * STEPS) < 0.1 * STEPS


def test_a_healthy_run_is_quiet_and_its_prediction_becomes_its_final_loss() -> None:
    values = losses(2)
    watch = fed(TrainingWatch("mine", STEPS, [finished(), finished(101, "other")], **RECIPE), values)
    assert watch.alarms == []
    assert watch.finish() is None
    found = watch.prediction()
    assert found is not None
    assert found.method == "finished"
    assert watch.line() == f"final {found.predicted_final_loss:.3f}  no alarm"


def test_nothing_is_predicted_too_early_without_a_template_or_without_a_length() -> None:
    watch = fed(TrainingWatch("mine", STEPS, finished()), losses(1), upto=PREDICT_FROM / 2)
    assert watch.prediction() is None
    assert watch.line() == "final loss not known yet  no alarm"
    for settings_ in ({"total_steps": STEPS}, {"total_steps": STEPS, **RECIPE}, {**RECIPE, "schedule": "cosine"}):
        watch = fed(TrainingWatch("mine", **settings_), losses(1), upto=0.5)
        assert watch.prediction() is None
        assert watch.line() == "no alarm"


def test_one_point_a_tenth_is_too_little_not_a_failure() -> None:
    watch = TrainingWatch("mine", STEPS, finished())
    assert watch.update(0.1 * STEPS, 3.0) is None
    assert watch.prediction() is None


@pytest.mark.parametrize("schedule", ["linear_to_zero", Schedule(kind="linear_to_zero", warmup_fraction=0.05)])
def test_without_a_reference_the_published_surrogate_predicts_and_says_so(schedule: Schedule | str) -> None:
    watch = TrainingWatch("mine", STEPS, **RECIPE, schedule=schedule)
    found = fed(watch, losses(1), upto=0.5).prediction()
    assert found is not None
    assert found.half_width_percent > 3
    assert any("fitted to other models" in text for text in found.warnings)
    assert watch.monitor.judge.reference is None


def test_a_surrogate_of_the_same_family_serves_the_alarm_as_well() -> None:
    known = published_of(PAPER, "train")
    own = StoredSurrogate(known.surrogate, known.mae_percent, (0.1, 1.0), (10.0, 100.0), split="train")
    watch = TrainingWatch("mine", STEPS, **RECIPE, schedule="linear_to_zero", surrogate=own)
    found = fed(watch, losses(1), upto=0.5).prediction()
    assert watch.monitor.judge.reference is not None
    assert found is not None
    assert found.warnings == ()


def test_it_is_worked_out_anew_only_when_a_bin_is_new() -> None:
    watch = fed(TrainingWatch("mine", 10 * STEPS, finished()), np.repeat(losses(1), 10), upto=0.5)
    first = watch.prediction()
    assert first is not None
    assert watch.update(0.5 * 10 * STEPS + 1, 2.9) is None
    assert watch.prediction() is first
    fed(watch, np.repeat(losses(1), 10), upto=0.51, begin=5 * STEPS + 1)
    assert watch.prediction() is not first


@pytest.mark.parametrize("lost", [False, True])
def test_a_diverged_run_has_no_prediction_until_it_is_set_back(lost: bool) -> None:
    values = losses(1)
    values[STEPS // 2 :] *= np.nan if lost else 2.0
    watch = fed(TrainingWatch("mine", STEPS, finished(), **RECIPE), values, upto=0.6)
    assert [alarm.kind for alarm in watch.alarms if not alarm.is_artefact] == ["divergence"]
    assert watch.prediction() is None
    assert watch.line().startswith("ALARM divergence from step 10")
    fed(watch, losses(1), upto=0.7, begin=STEPS // 2 - 10)
    assert watch.prediction() is not None
    assert watch.line().startswith("final 2.")


@settings(max_examples=10, deadline=None)
@given(cut=st.integers(0, STEPS), fault=st.floats(0.2, 0.9), size=st.floats(-0.1, 0.5), seed=st.integers(0, 99))
def test_an_interrupted_run_is_told_the_same(cut: int, fault: float, size: float, seed: int) -> None:
    values, reference = losses(seed) * after(T, fault, size), [finished()]
    whole = fed(TrainingWatch("mine", STEPS, reference, **RECIPE), values)
    before = fed(TrainingWatch("mine", STEPS, reference, **RECIPE), values, upto=cut / STEPS)
    resumed = fed(TrainingWatch.from_state(json.loads(json.dumps(before.state())), reference), values, begin=cut)
    assert resumed.alarms == whole.alarms
    assert resumed.prediction() == whole.prediction()
    assert resumed.state() == whole.state()


@settings(max_examples=6, deadline=None)
@given(factor=st.floats(0.2, 5.0), size=st.floats(0.0, 0.4))
def test_another_unit_of_loss_changes_nothing_but_the_unit(factor: float, size: float) -> None:
    values = losses(3) * after(T, 0.5, size)
    watch, scaled = (
        fed(TrainingWatch("mine", STEPS, finished(), **RECIPE), unit * values, 0.8) for unit in (1, factor)
    )
    assert [(a.kind, a.onset_step) for a in scaled.alarms] == [(a.kind, a.onset_step) for a in watch.alarms]
    mine, its = watch.prediction(), scaled.prediction()
    assert (mine is None) == (its is None)
    if mine is not None and its is not None:
        assert its.predicted_final_loss == pytest.approx(factor * float(mine.predicted_final_loss or 0), rel=1e-6)


@pytest.mark.parametrize("total", [60_000, None])
def test_its_memory_is_small_however_long_the_run_is(total: int | None) -> None:
    watch = TrainingWatch("mine", total)
    random = np.random.default_rng(0)
    for step, noise in enumerate(random.standard_normal(60_000).tolist(), 1):
        watch.update(step, 3 * step**-0.05 * (1 + 0.01 * noise))
    assert len(json.dumps(watch.state())) < 60_000


def test_validation_losses_are_watched_if_announced() -> None:
    values, held_out = losses(1), losses(4)[9::10]
    watch = TrainingWatch("mine", STEPS, validation=True)
    for step in range(1, STEPS + 1):
        watch.update(step, values[step - 1])
        if step % 10 == 0:
            at = step // 10 - 1
            watch.update_validation(step, held_out[at] * (1 + 0.06 * max(0, at - 10)))
    assert [alarm.kind for alarm in watch.alarms] == ["train_validation_split"]
    with pytest.raises(CurveError, match="not announced"):
        TrainingWatch("mine", STEPS).update_validation(1, 3.0)


def test_what_cannot_be_held_against_the_run_is_refused() -> None:
    with pytest.raises(CurveError, match="length is not known"):
        TrainingWatch("mine", None, finished())
    with pytest.raises(CurveError, match="its schedule is cosine, that of reference small is linear_to_zero"):
        TrainingWatch("mine", STEPS, finished(), schedule="cosine")
    with pytest.raises(CurveError, match="other: its tau is 4 times that of small"):
        TrainingWatch("mine", STEPS, [finished(), finished(1, "other", tau=0.8)])
    with pytest.raises(CurveError, match="other: its schedule is cosine, that of small is linear_to_zero"):
        TrainingWatch("mine", STEPS, [finished(), finished(1, "other", schedule="cosine")])
    with pytest.raises(ConfigError, match="alarm rate"):
        TrainingWatch("mine", STEPS, rate=0.5)
    state = TrainingWatch("mine", STEPS, finished()).state()
    with pytest.raises(CurveError, match="had reference small, now it is None"):
        TrainingWatch.from_state(state)
