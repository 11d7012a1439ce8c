"""The words of a progress line, of an alarm, and the numbers for a logger."""

from __future__ import annotations

from dataclasses import replace

from scaling_collapse.diagnose.alarm import Alarm
from scaling_collapse.live.words import alarm_words, metrics, progress_line, told
from scaling_collapse.predict.prediction import Prediction

DRIFT = Alarm("a", "drift", 1200, 0.24, False, (1100, 1250), 1400, "the loss lies 2% above what b projects")
SPIKE = replace(DRIFT, kind="spike", onset_step=300, onset_fraction=None, recovered=True)
RESET = replace(DRIFT, kind="step_reset", onset_step=500, onset_fraction=0.1)
KNOWN = Prediction("a", 0.4, 3.0608, 3.0221, 3.1011, "kriging")


def test_the_line_holds_prediction_interval_and_alarm() -> None:
    assert progress_line(KNOWN, [], expected=True) == "final 3.061 (3.022 to 3.101)  no alarm"
    assert progress_line(None, [], expected=True) == "final loss not known yet  no alarm"
    assert progress_line(None, [DRIFT], expected=False) == "ALARM drift from step 1200 (24%)"
    ended = replace(KNOWN, low=KNOWN.predicted_final_loss, high=KNOWN.predicted_final_loss)
    assert progress_line(ended, [], expected=True) == "final 3.061  no alarm"


def test_a_fault_that_goes_on_comes_before_one_that_is_over() -> None:
    assert alarm_words([DRIFT, SPIKE]) == "ALARM drift from step 1200 (24%)"
    assert alarm_words([SPIKE]) == "1 alarm: spike from step 300, recovered"
    assert alarm_words([SPIKE, RESET]) == "2 alarms: step reset from step 500 (10%), in the log"


def test_an_alarm_is_told_with_its_evidence() -> None:
    assert told(DRIFT) == "ALARM a: drift from step 1200 (24%): the loss lies 2% above what b projects"
    assert told(SPIKE).startswith("ALARM a: spike from step 300 (recovered): ")


def test_numbers_for_a_logger_are_there_where_they_are_known() -> None:
    assert metrics(None, [DRIFT, SPIKE]) == {"collapse/alarm": 2.0}
    expected = {"collapse/predicted_final_loss": 3.0608, "collapse/low": 3.0221, "collapse/high": 3.1011}
    assert metrics(KNOWN, []) == expected | {"collapse/alarm": 0.0}
