from __future__ import annotations

import json

from scaling_collapse.diagnose.alarm import Alarm

ALARM = Alarm("a", "drift", 600, 0.6, False, (590, 620), 700, "the loss lies 2% above what b projects")


def test_the_json_shape_is_that_of_watch():
    assert ALARM.as_json() == {
        "run": "a",
        "kind": "drift",
        "onset_step": 600,
        "onset_fraction": 0.6,
        "recovered": False,
    }


def test_nothing_is_lost_through_json():
    assert Alarm.from_state(json.loads(json.dumps(ALARM.state()))) == ALARM


def test_faults_of_the_log_are_told_apart_from_those_of_training():
    kinds = ("step_reset", "several_runs", "duplicated_steps", "not_a_number")
    assert all(Alarm("a", kind, 1, None, False, (1, 1), 1, "").is_artefact for kind in kinds)
    assert not ALARM.is_artefact
