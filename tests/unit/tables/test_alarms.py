"""The table of alarms: every run once, faults told with their onset, healthy runs without a kind."""

from __future__ import annotations

import pandas as pd
import pytest

from scaling_collapse.tables.alarms import NO_REFERENCE, alarms_table
from scaling_collapse.tables.groups import FAULTY
from tests.support import synthetic_curves as synthetic


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    faulty = [synthetic.group(name) for name in FAULTY]
    return alarms_table(synthetic.group("celerity_20tpp"), [faulty[0], pd.concat(faulty)])


def test_every_run_is_there_and_healthy_ones_have_no_alarm(table: pd.DataFrame) -> None:
    named = ("celerity_20tpp", *FAULTY)
    assert set(table.run) == {run.run_id for group in named for run in synthetic.GROUPS[group]}
    sound = table[~table.run.str.contains("m9-wrong5")]
    assert not sound.run.duplicated().any()
    assert (sound.kind == "").all()


def test_references_are_the_smaller_runs(table: pd.DataFrame) -> None:
    by_run = table.set_index("run").reference
    smallest = [run for run in by_run.index if run.startswith("132k")]
    assert (by_run[smallest] == NO_REFERENCE).all()
    assert by_run[[run for run in by_run.index if run.startswith("262k")]].tolist() == ["the mean of 3 runs"]


def test_the_fault_is_told_with_its_onset(table: pd.DataFrame) -> None:
    (fault,) = table[table.run.str.contains("m9-wrong5")].to_dict("records")
    assert fault["kind"] in ("drift", "divergence")
    assert fault["onset_fraction"] == pytest.approx(synthetic.FAULT_AT, abs=0.04)
    assert fault["onset_low"] <= fault["onset_fraction"] <= fault["onset_high"]
    assert fault["onset_fraction"] <= fault["alarm_fraction"] < 0.75
    assert not fault["recovered"]
