"""What is known of a run survives JSON, and stands in its curve."""

from __future__ import annotations

import json

import numpy as np
import pytest

from scaling_collapse.config.recipe import Schedule
from scaling_collapse.live.own_run import OwnRun

RUNS = [
    OwnRun("a"),
    OwnRun("a", 100, 20.0, 0.3, "cosine_24000"),
    OwnRun("a", 100.0, None, 0.3, Schedule(kind="wsd", warmup_fraction=0.05)),
]


@pytest.mark.parametrize("own", RUNS)
def test_it_survives_json(own: OwnRun) -> None:
    assert OwnRun.from_state(json.loads(json.dumps(own.state()))) == own


def test_its_curve_knows_fraction_and_recipe() -> None:
    curve = RUNS[2].curve(np.array([10.0, 50.0, 101.0]), np.array([3.0, 2.0, 1.0]))
    assert curve.t_hat == pytest.approx([0.1, 0.5, 1.0])
    assert curve.tau == 0.3
    assert np.isnan(curve.tpp)
    assert curve.facts["schedule"] == "wsd"
    assert RUNS[2].warmup == {"a": 0.05}


def test_where_nothing_is_known_its_curve_says_so() -> None:
    curve = RUNS[0].curve(np.array([10.0]), np.array([3.0]))
    assert np.isnan([curve.t_hat[0], curve.tau, curve.tpp]).all()
    assert curve.facts["schedule"] == ""
    assert RUNS[0].warmup == RUNS[1].warmup == {}
