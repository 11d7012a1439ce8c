"""The labelled public curves. Parsers are minimal: the project's readers have tests of their own."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest
from scipy.stats import binom

from scaling_collapse.curves.curve import curves_of
from scaling_collapse.diagnose.diagnose import diagnose_curve, diagnose_log
from scaling_collapse.diagnose.family_check import check_family
from scaling_collapse.diagnose.reference import reference_of
from tests.unit.diagnose.support import PUBLIC

pytestmark = pytest.mark.skipif(not PUBLIC.exists(), reason="the public curves are not here")

HEALTHY = ["gpt2", "gpt2_last_char_to_char", "gpt2_last_char_token_to_token"]
FAULTY = {
    "gpt2_augmented_char_to_token": 41,
    "gpt2_char_to_token1729491541": 29,
    "gpt2_char_to_token1729534595": 58,
    "gpt2_char_to_token1729578574": 33,
    "gpt2_last_char_token_to_char": 28,
}


@pytest.fixture(scope="module")
def exported():
    table = pd.read_csv(PUBLIC / "raw" / "wandb_ui_csv" / "wandb_export.csv")
    columns = [name for name in table.columns if name.endswith("train/loss")]
    return {name.split(" - ")[0]: table[["Step", name]].dropna().to_numpy(float).T for name in columns}


def run_of(exported, name):
    (found,) = [run for run in exported if re.fullmatch(re.escape(name) + r"[\d.]*", run)]
    return exported[found]


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_exports_are_silent(exported, name):
    assert diagnose_log(name, *run_of(exported, name)).alarms == ()


@pytest.mark.parametrize("name", FAULTY)
def test_diverging_exports_are_found_with_their_onset(exported, name):
    found = diagnose_log(name, *run_of(exported, name))
    assert not found.healthy
    assert found.alarms[0].onset_step == pytest.approx(FAULTY[name], abs=10)


@pytest.fixture(scope="module")
def ladder():
    return list(curves_of(pd.read_csv(PUBLIC / "olmo_ladder_c4.csv"), "val_c4"))


def test_the_ladder_has_one_mild_spike_that_recovers(ladder):
    alarms = [alarm for curve in ladder for alarm in diagnose_curve(curve).alarms]
    assert [(alarm.run, alarm.kind, alarm.recovered) for alarm in alarms] == [("370M-1xC-rerun", "spike", True)]
    assert alarms[0].onset_step == pytest.approx(3500, abs=100)


def test_against_other_sizes_the_ladder_alarms_no_more_often_than_stated(ladder):
    """80 pairs at 1%; more alarms than the bound come once in 1,000 tries."""
    pairs = alarms = 0
    for name in ("0.5xC", "2xC", "5xC", "10xC"):
        family = [curve for curve in ladder if curve.run.endswith(f"-{name}")]
        for curve in family:
            for other in family:
                if other is not curve:
                    pairs += 1
                    alarms += not diagnose_curve(curve, reference_of(other, curve)).healthy
    assert pairs == 80
    assert alarms <= binom.ppf(0.999, pairs, 0.01)


def test_one_tpp_collapses_and_one_size_does_not(ladder):
    for name in ("0.5xC", "1xC-rerun", "2xC", "5xC", "10xC"):
        found = check_family([curve for curve in ladder if curve.run.endswith(f"-{name}")])
        assert found.collapses
        assert found.spread_percent < 0.25
    found = check_family([curve for curve in ladder if curve.run.startswith("3B-") and "rerun" not in curve.run])
    assert not found.collapses
    assert any("tokens per parameter" in text for text in found.mismatches)


def test_the_fine_tune_that_overfits_is_found():
    state = json.loads((PUBLIC / "raw" / "hf_trainer_state" / "trainer_state.json").read_text(encoding="utf-8"))
    train, held_out = (
        [(entry["step"], entry[key]) for entry in state["log_history"] if key in entry] for key in ("loss", "eval_loss")
    )
    found = diagnose_log("fine-tune", *zip(*train, strict=True), validation=tuple(zip(*held_out, strict=True)))
    assert [alarm.kind for alarm in found.alarms] == ["train_validation_split"]
    assert found.alarms[0].onset_interval[0] == 1000


@pytest.mark.parametrize(("table", "split"), [("mpl.csv", "val"), ("gemstones.csv", "loss")])
def test_other_public_runs_are_silent(table, split):
    for curve in curves_of(pd.read_csv(PUBLIC / table), split, complete=True):
        assert diagnose_curve(curve).alarms == (), curve.run
