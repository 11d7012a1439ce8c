from __future__ import annotations

from dataclasses import replace

import numpy as np

from scaling_collapse.diagnose.family_reference import nearest_first, smaller_reference, smaller_runs
from tests.unit.report.test_choosing import ME, member

T = np.arange(1, 101) / 100


def test_the_nearest_recipe_comes_first_then_the_nearest_size():
    others = [member("tau", tau=0.4), member("huge", size=8e5), member("twice", size=2e5), member("tpp", tpp=80.0), ME]
    assert [one.run for one in nearest_first(ME, others)] == ["twice", "huge", "tau", "tpp"]


def test_of_a_run_of_unknown_size_the_largest_is_the_nearest():
    me = member("me", size=np.nan)
    assert [one.run for one in nearest_first(me, [member("small"), member("large", size=9e5)])] == ["large", "small"]


def test_smaller_runs_are_finished_alike_and_not_restarted():
    others = [
        member("half", size=5e4),
        member("near", size=5e4, tau=0.24, tpp=24.0),
        member("larger", size=2e5),
        member("tau", size=5e4, tau=0.4),
        member("tpp", size=5e4, tpp=80.0),
        member("schedule", size=5e4, schedule="constant"),
        member("restarted", size=5e4, restart="restart0.6-m9"),
        member("diverged", size=5e4, status="diverged"),
        replace(member("cut", size=5e4), t_hat=0.9 * T),
    ]
    assert [one.run for one in smaller_runs(ME, others)] == ["half", "near"]
    found = smaller_reference(ME, others)
    assert found is not None
    assert found.source == "the mean of 2 runs"
    assert smaller_reference(ME, others[2:]) is None
