"""The alarm on real public files, through the command: what a user gets who installs the package and types it.

Labels stand in the README beside the files. Bars are those of issue 5.
"""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from functools import cache
from typing import Any

import pytest

from scaling_collapse.cli.app import main
from tests.house.files import ROOT

PUBLIC = ROOT.parent / "shared" / "curves"
pytestmark = pytest.mark.skipif(not PUBLIC.exists(), reason="the public curves are not beside this checkout")

EXPORT = "raw/wandb_ui_csv/wandb_export.csv"
HEALTHY = ("gpt2", "gpt2_last_char_to_char1729642919.4054031", "gpt2_last_char_token_to_token1729493675.529459")
#: Run, and where its fault begins in the export's steps.
FAULTY = {
    "gpt2_augmented_char_to_token1729630560.5729918": 41,
    "gpt2_char_to_token1729491541.2756786": 29,
    "gpt2_char_to_token1729534595.422701": 58,
    "gpt2_char_to_token1729578574.2848036": 33,
    "gpt2_last_char_token_to_char1729587337.8266432": 28,
}
ONSET_POINTS = 10

#: Logs of runs that nobody calls faulty.
QUIET = (
    "mpl.csv",
    "gemstones.csv",
    "raw/llmc/main.log",
    "raw/jsonl/gemstones_hot_477.jsonl",
    "raw/step_lr_loss_csv/100M_cosine_24000.csv",
)


@cache
def alarms(file: str, *words: str) -> list[dict[str, Any]]:
    """The alarms that the command lists; its exit code must fit them."""
    out = io.StringIO()
    with redirect_stdout(out):
        code = main(["watch", str(PUBLIC / file), "--once", "--json", *words])
    found: list[dict[str, Any]] = json.loads(out.getvalue())["alarms"]
    assert code == bool(found)  # none of these files has a faulty log
    return found


@pytest.mark.parametrize("run", FAULTY)
def test_a_diverging_run_is_found_with_its_onset(run: str) -> None:
    own = [alarm for alarm in alarms(EXPORT) if alarm["run"] == run]
    assert own[0]["onset_step"] == pytest.approx(FAULTY[run], abs=ONSET_POINTS)
    assert any(not alarm["recovered"] for alarm in own)


def test_healthy_runs_beside_them_are_silent() -> None:
    assert {alarm["run"] for alarm in alarms(EXPORT)} == set(FAULTY)
    assert not set(HEALTHY) & set(FAULTY)


def test_the_ladder_has_one_mild_spike_that_recovers() -> None:
    (spike,) = alarms("olmo_ladder_c4.csv")
    assert (spike["run"], spike["kind"], spike["recovered"]) == ("370M-1xC-rerun", "spike", True)
    assert spike["onset_step"] == pytest.approx(3500, abs=100)


def test_the_same_spike_is_in_the_log_as_the_tool_wrote_it() -> None:
    (spike,) = alarms("raw/wandb_api_csv/olmo_ladder_370M-1xC-rerun.csv")
    assert (spike["kind"], spike["recovered"]) == ("spike", True)


def test_overfitting_is_a_split_of_train_and_validation() -> None:
    (split,) = alarms("raw/hf_trainer_state/trainer_state.json")
    assert split["kind"] == "train_validation_split"
    assert split["onset_step"] <= 2000  # evaluations every 1,000 steps; it rises from the first to the second


@pytest.mark.parametrize("file", QUIET)
def test_other_logs_are_silent(file: str) -> None:
    assert alarms(file) == []


@pytest.mark.parametrize("name", ["0.5xC", "1xC", "1xC-rerun", "2xC", "5xC", "10xC"])
def test_the_ladder_collapses_at_one_number_of_tokens_per_parameter(name: str) -> None:
    assert main(["check", str(PUBLIC / "olmo_ladder_c4.csv"), "--run", f"*-{name}"]) == 0


def test_one_size_at_all_numbers_of_tokens_does_not() -> None:
    assert main(["check", str(PUBLIC / "olmo_ladder_c4.csv"), "--run", "190M-*"]) == 1
