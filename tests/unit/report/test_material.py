"""What a report says of families whose truth is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scaling_collapse.curves.grid import GRID
from scaling_collapse.curves.table import checked
from scaling_collapse.errors import CurveError
from scaling_collapse.report.material import gather
from tests.unit.report.support import FINAL, NOISE, STEPS, family, given, run, unknown


def test_a_family_that_collapses_is_quiet(healthy):
    assert healthy.check.collapses
    assert healthy.alarms == {}
    assert healthy.missing == ()
    assert healthy.quiet
    assert healthy.alike == {"small", "middle", "large"}


def test_each_run_is_held_against_the_others(healthy):
    assert {m.run: set(m.compared_with) for m in healthy.members} == {
        "small": {"middle", "large"},
        "middle": {"small", "large"},
        "large": {"middle", "small"},
    }
    assert healthy.members[0].reference.source == "the mean of 2 runs"


def test_the_mean_curve_is_the_mean_of_the_compared_runs(healthy):
    curves = [np.interp(GRID, line.t_hat, line.normalised) for line in healthy.lines]
    assert healthy.collapse.mean == pytest.approx(np.mean(curves, axis=0))
    assert healthy.collapse.std == pytest.approx(100 * np.std(curves, axis=0, ddof=1))
    assert float(healthy.collapse.std.mean()) == pytest.approx(healthy.check.spread_percent, rel=0.02)


def test_a_run_that_is_faulty_is_the_outlier_and_the_only_one_with_an_alarm(faulty):
    assert not faulty.quiet
    assert faulty.check.outliers == ("middle",)
    assert {alarm.run for alarm in faulty.alarms.values()} == {"middle"}
    first = faulty.alarms[1]
    assert first.onset_fraction == pytest.approx(0.6, abs=0.03)
    assert first.onset_interval[0] <= 0.6 * STEPS + 1 <= first.onset_interval[1] + 2
    assert faulty.alarms_of("middle") == faulty.alarms
    assert faulty.alarms_of("small") == {}


def test_an_outlier_is_no_reference_for_others(faulty):
    for member in faulty.members:
        assert "middle" not in member.compared_with
    assert faulty.alike == {"small", "large", "huge"}


def test_a_run_in_progress_is_predicted_from_its_nearest_relative_and_not_compared(in_progress):
    material = in_progress
    assert material.check.runs == ("small", "middle")
    assert material.check.left_out == ("large",)
    prediction = material.members[2].prediction
    assert prediction.progress == pytest.approx(0.4)
    assert prediction.low < FINAL["large"] < prediction.high
    assert prediction.predicted_final_loss == pytest.approx(FINAL["large"], rel=0.015)
    assert material.members[2].template.source == "middle"
    assert material.members[0].prediction is None
    assert material.quiet


def test_one_run_alone_says_what_it_lacks(alone):
    material = alone
    assert not material.is_family
    assert material.check is None
    assert [(one.what, one.why) for one in material.missing] == [
        ("large", "no residual: there is no other finished run of its schedule"),
        ("large", "no prediction: there is no finished run of its schedule to predict it from"),
    ]
    assert all("--reference" in one.fix for one in material.missing)


def test_a_reference_may_be_a_run_or_another_table():
    frame = family(large=run("large", until=0.4))
    by_run = gather(given(frame), "x", ["large"], reference="small")
    assert by_run.members[0].compared_with == ("small",)
    assert by_run.members[0].template.source == "small"
    alone = checked(run("large", until=0.4), "x")
    by_table = gather(given(alone), "x", reference=family())
    assert set(by_table.members[0].compared_with) == {"small", "middle"}
    assert by_table.members[0].prediction.predicted_final_loss == pytest.approx(FINAL["large"], rel=0.015)
    assert by_table.missing == ()


@pytest.mark.parametrize("reference", ["large", checked(run("large", until=0.4), "x")])
def test_a_reference_that_did_not_finish_is_an_error(reference):
    frame = family(large=run("large", until=0.4))
    with pytest.raises(CurveError, match="no run in it is finished, as a reference has to be"):
        gather(given(frame), "x", ["small"], reference=reference)


def test_a_chosen_run_is_still_held_against_the_rest_of_its_table():
    material = gather(given(family()), "x", ["large"])
    assert [member.run for member in material.members] == ["large"]
    assert set(material.members[0].compared_with) == {"small", "middle"}


def test_losses_that_are_no_numbers_are_a_divergence_and_no_final_loss():
    lost = np.arange(STEPS + 1.0, STEPS + 21)
    frame = family(large=run("large", status=""))
    material = gather(given(frame, not_finite={("large", "train"): lost}), "x")
    (alarm,) = [alarm for alarm in material.alarms.values() if not alarm.is_artefact]
    assert (alarm.run, alarm.kind, alarm.onset_step) == ("large", "divergence", STEPS + 1)
    assert material.members[2].diverged
    assert material.check.runs == ("small", "middle")
    assert not material.quiet


def test_a_run_that_diverges_is_left_out_of_the_family_though_its_table_does_not_say_so():
    jump = np.where(np.arange(STEPS) > 0.7 * STEPS, 3.0, 1.0)
    material = gather(given(family(large=run("large", fault=jump, status=""))), "x")
    assert material.check.left_out == ("large",)
    assert material.check.collapses
    assert {alarm.kind for alarm in material.alarms_of("large").values()} == {"divergence"}


def test_without_any_length_there_is_no_collapse_to_judge_but_alarms_are(lengthless):
    material = lengthless
    assert material.check is None
    collapse = next(one for one in material.missing if one.what == "collapse")
    assert collapse.why == "the length of no run is known"
    assert "--complete" in collapse.fix
    assert {alarm.run for alarm in material.alarms.values()} == {"large"}


def test_runs_of_unknown_recipe_are_compared_where_they_collapse():
    together = gather(given(checked(pd.concat([unknown("small"), unknown("large")]), "x")), "x", complete=True)
    assert together.check.collapses
    assert together.members[0].compared_with == ("large",)
    apart = checked(pd.concat([unknown("small"), unknown("large", tau=0.02)]), "x")
    material = gather(given(apart), "x", complete=True)
    assert not material.check.collapses
    assert material.members[0].compared_with == ()
    assert "do not collapse" in material.missing[0].why


def test_a_curve_that_begins_late_is_not_compared_and_the_reason_is_told():
    frame = family(large=run("large").iloc[STEPS // 3 :])
    material = gather(given(frame), "x")
    assert material.check.runs == ("small", "middle")
    (missing,) = material.missing
    assert missing.what == "large"
    assert "its first loss is at 34% of training" in missing.why


def test_one_finished_run_is_no_family():
    material = gather(given(family(small=run("small", until=0.5), large=run("large", until=0.5))), "x")
    assert material.check is None
    assert any(one.what == "collapse" and "need two" in one.why for one in material.missing)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"runs": ["smal"]}, "smal: there is no such run in the table. Fix: did you mean small"),
        ({"split": "test"}, "x: no run has losses of split 'test' that can be shown"),
    ],
)
def test_what_is_not_there_is_an_error(arguments, message):
    with pytest.raises(CurveError, match=message):
        gather(given(family()), "x", **arguments)


def test_files_are_called_by_their_name_alone(healthy):
    assert healthy.shown("/some/body/s/folder/run.log") == "run.log"


def test_the_noise_of_the_test_is_what_the_check_finds(healthy):
    # l is smoothed over 10% of 400 steps: its noise is about that of the end, 2 sigma / sqrt(80 points)
    assert healthy.check.noise_floor_percent == pytest.approx(100 * NOISE * 2 / np.sqrt(80), rel=0.5)
