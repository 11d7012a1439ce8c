from __future__ import annotations

import math

import pytest

from scaling_collapse.diagnose.log import LogCheck


def verdicts(points):
    check = LogCheck()
    return [check(float(step), loss)[:2] for step, loss in points]


def test_a_plain_log_is_used():
    assert set(verdicts([(i, 5 - 0.01 * i) for i in range(50)])) == {("use", None)}


def test_a_restart_overwrites():
    points = [(i, 5 - 0.01 * i) for i in range(100)] + [(i, 5 - 0.01 * i) for i in range(60, 80)]
    found = verdicts(points)
    assert found[100] == ("rewind", "step_reset")
    assert set(found[:100] + found[101:]) == {("use", None)}


def test_another_run_begins_at_the_beginning_and_with_a_loss_like_there():
    run = [(i, 5 * (i + 1) ** -0.2) for i in range(100)]
    assert verdicts(run + run)[100] == ("restart", "several_runs")
    assert verdicts([*run, (0, run[-1][1])])[100] == ("rewind", "step_reset")


def test_duplicates_and_gaps_are_told_once():
    found = verdicts([(1, 3.0), (1, 3.1), (2, 3.0), (2, 2.9), (3, math.nan), (4, 2.9), (5, math.inf), (6, 2.8)])
    assert found == [
        ("use", None),
        ("skip", "duplicated_steps"),
        ("use", None),
        ("skip", None),
        ("skip", "not_a_number"),
        ("use", None),
        ("skip", None),
        ("use", None),
    ]


@pytest.mark.parametrize("bad", [math.nan, math.inf, 0.0, -1.0])
def test_losses_that_stay_lost_are_a_divergence(bad):
    check = LogCheck()
    check(1.0, 3.0)
    found = [check(float(step), bad) for step in (2, 3, 4, 5)]
    assert [kind for _, kind, _ in found] == ["not_a_number", None, "divergence", None]
    assert "from step 2 on" in found[2][2]


def test_a_step_that_is_none_is_left_out():
    assert LogCheck()(math.nan, 3.0)[0] == "skip"
