"""`collapse predict`: on exact families, pictures, JSON, and anything that can be wrong with a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from scaling_collapse.cli.app import main
from scaling_collapse.surrogate.stored import write_surrogate
from tests.unit.predict.support import family, rows_of
from tests.unit.surrogate.test_study import study

FAMILY = rows_of(family())  # r0 to r3, which collapse exactly
FINAL = {"r1": 3.7, "r2": 3.4, "r3": 3.1}
BY_R0 = ["--template", "r0", "--at", "0.3"]


@pytest.fixture
def curves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    FAMILY.to_csv("curves.csv", index=False)
    return Path("curves.csv")


def of_json(words: list[str], capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    assert main(["predict", *words, "--json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def test_a_back_test_is_a_list_with_true_losses(curves: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = of_json([str(curves), *BY_R0], capsys)
    assert [entry["run"] for entry in found] == list(FINAL)
    for entry in found:
        keys = ["run", "progress", "predicted_final_loss", "low", "high", "method", "warnings", "true_final_loss"]
        assert list(entry) == keys
        assert entry["predicted_final_loss"] == pytest.approx(FINAL[entry["run"]], rel=2e-4)
        assert entry["low"] < entry["true_final_loss"] < entry["high"]
        assert (entry["progress"], entry["warnings"]) == (0.3, [])


def test_runs_in_progress_have_no_true_loss(curves: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cut = FAMILY[(FAMILY["run"] == "r0") | (FAMILY["tokens"] <= 0.4 * FAMILY["tokens_total"])]
    cut.to_parquet("now.parquet")
    found = of_json(["now.parquet", "--template", "r0"], capsys)
    assert [entry["progress"] for entry in found] == pytest.approx([0.4] * 3)
    assert all("true_final_loss" not in entry for entry in found)
    assert found[2]["predicted_final_loss"] == pytest.approx(3.1, rel=2e-4)


def test_the_table_shows_value_interval_error_and_reason(curves: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", str(curves), *BY_R0, "--siblings", "smaller"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Final losses [nats], validation, by run r0\n")
    row = next(line.split() for line in said.splitlines() if line.startswith("r2 "))
    assert row[:3] == ["r2", "30%", "3.400"]
    assert row[-3:-1] == ["3.400", "+0.00"]
    assert "r3: kriging has the lowest expected error" in said
    assert "2 finished sibling(s)" in said
    assert "3 of 3 true losses lie in their intervals" in said
    assert "warnings" not in said


def test_runs_are_chosen_by_name_or_pattern(curves: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [e["run"] for e in of_json([str(curves), *BY_R0, "--run", "r3"], capsys)] == ["r3"]
    assert [e["run"] for e in of_json([str(curves), *BY_R0, "--run", "r[12]"], capsys)] == ["r1", "r2"]
    (entry,) = of_json([str(curves), *BY_R0, "--run", "r3", "--method", "affine", "--siblings", "r1,r2"], capsys)
    assert entry["method"] == "affine"


def test_mismatches_and_wide_intervals_are_named(curves: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed = FAMILY.assign(tpp=FAMILY["tpp"].where(FAMILY["run"] != "r2", 200.0))
    changed.to_csv("curves.csv", index=False)
    assert main(["predict", "curves.csv", *BY_R0, "--max-width", "0.01"]) == 0
    said = capsys.readouterr().out
    assert "r2: tokens per parameter is 10 times that of template r0 (tolerated: 1.25)" in said
    assert "all 3 runs: its interval is +-" in said
    assert "% asked for" in said


def test_with_a_surrogate_of_ones_own_and_the_published_one(curves: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_surrogate(study(), Path("s.json"))
    own = of_json([str(curves), "--template", "surrogate", "--surrogate", "s.json", "--at", "0.3"], capsys)
    published = of_json([str(curves), "--template", "surrogate", "--at", "0.3"], capsys)
    assert [entry["run"] for entry in own] == [entry["run"] for entry in published] == ["r0", *FINAL]
    for narrow, wide in zip(own, published, strict=True):
        assert wide["high"] - wide["low"] > 2 * (narrow["high"] - narrow["low"])
        assert "was fitted to other models" in wide["warnings"][0]
        assert wide["low"] < wide["true_final_loss"] < wide["high"]


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_pictures(curves: Path, suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", str(curves), *BY_R0, "--picture", f"new/p.{suffix}"]) == 0
    starts = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}
    assert Path(f"new/p.{suffix}").read_bytes().startswith(starts[suffix])
    assert f"picture: new/p.{suffix}" in capsys.readouterr().out
    assert [path.name for path in Path("new").iterdir()] == [f"p.{suffix}"]


def broken(**columns: object) -> pd.DataFrame:
    """The family with some columns of run r2 changed."""
    frame = FAMILY.copy()
    for name, value in columns.items():
        frame[name] = frame[name].astype("object")
        frame.loc[frame["run"] == "r2", name] = value
    return frame


LOSS = FAMILY.loc[FAMILY["run"] == "r2", "loss"].to_list()
BROKEN = {
    "NaN": (broken(loss=[*LOSS[:5], np.nan, *LOSS[6:]]), "column loss is empty (or NaN) in row 125"),
    "negative loss": (broken(loss=[*LOSS[:5], -1.0, *LOSS[6:]]), "r2 (validation) has loss -1.0 at step 600"),
    "decreasing steps": (broken(step=list(range(60, 0, -1))), "r2 (validation) at step 59"),
    "one point": (FAMILY[(FAMILY["run"] != "r2") | (FAMILY["step"] == 100)], "r2 (validation) has one point"),
    "no split": (FAMILY.drop(columns="split"), "column split is missing"),
    "no rows": (FAMILY.head(0), "the table has no rows"),
    "text": (broken(loss="low"), "column loss must hold numbers"),
}


@pytest.mark.parametrize("command", ["predict", "advise", "fit"])
@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_table_is_one_line_for_every_command(
    curves: Path, fault: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    frame, message = BROKEN[fault]
    frame.to_csv(curves, index=False)
    assert main([command, str(curves), *([] if command == "fit" else BY_R0)]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.startswith("error: curves.csv: ")
    assert said.err.count("\n") == 1
    assert said.out == ""


UNUSABLE = {
    "constant loss": (broken(loss=3.0), "its loss is 3 at every step", ("r0", "surrogate")),
    "TPP 0": (broken(tpp=0), "is 0", ("r0", "surrogate")),
    "negative tau": (broken(tau=-0.1), "tau is -0.1", ("r0", "surrogate")),
    "missing tau": (broken(tau=np.nan, weight_decay=np.nan), "its tau or tokens per parameter", ("surrogate",)),
    "diverged": (FAMILY.assign(status=FAMILY["run"].map({"r2": "diverged"})), "it diverged", ("r0",)),
}


@pytest.mark.parametrize("fault", UNUSABLE)
def test_a_run_that_cannot_be_predicted_says_why_and_the_others_are(
    curves: Path, fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    frame, message, templates = UNUSABLE[fault]
    frame.to_csv(curves, index=False)
    for template in templates:
        found = {e["run"]: e for e in of_json([str(curves), "--template", template, "--at", "0.3"], capsys)}
        assert found["r2"]["predicted_final_loss"] is found["r2"]["low"] is found["r2"]["high"] is None
        assert found["r2"]["method"] == "refused"
        assert message in " ".join(found["r2"]["warnings"])
        assert all(found[run]["predicted_final_loss"] is not None for run in ("r1", "r3"))
    assert main(["predict", str(curves), "--template", templates[0], "--at", "0.3"]) == 0
    assert message in capsys.readouterr().out


def test_missing_tau_does_not_matter_to_a_run_as_template(curves: Path, capsys: pytest.CaptureFixture[str]) -> None:
    UNUSABLE["missing tau"][0].to_csv(curves, index=False)
    assert of_json([str(curves), *BY_R0], capsys)[1]["predicted_final_loss"] == pytest.approx(3.4, rel=2e-4)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["curves.csv", "--template", "r9"], "there is no such run in the table. Fix: use one of: r0, r1, r2, r3"),
        (["curves.csv", *BY_R0, "--run", "r9"], "there is no such run in the table"),
        (["curves.csv", *BY_R0, "--run", "x*"], "no run of the table fits it; the first is r0"),
        (["curves.csv", *BY_R0, "--run", "r0"], "no run of split 'validation' is left to predict"),
        (["curves.csv", *BY_R0, "--siblings", "r9"], "there is no such run in the table"),
        (["curves.csv", *BY_R0, "--method", "guess"], "there is no 'guess'. Fix: use one of: auto, kriging"),
        (["curves.csv", *BY_R0, "--split", "train"], "there is no curve of split 'train'"),
        (["curves.csv", *BY_R0, "--surrogate", "s.json"], "--surrogate belongs to --template surrogate"),
        (["curves.csv", *BY_R0, "--picture", "p.gif"], "pictures are .png, .pdf, .svg files, not .gif"),
        (["curves.csv", *BY_R0, "--picture", "cut.csv/p.png"], "the picture could not be written: "),
        (["curves.csv", "--template", "surrogate", "--surrogate", "no.json"], "there is no such file"),
        (["curves.csv", "--template", "surrogate", "--surrogate", "curves.csv"], "not what `collapse fit` writes"),
        (["curves.csv"], "Missing option '--template'"),
        (["curves.csv", "--template", "r0", "--at", "a"], "Invalid value for '--at'"),
        (["cut.csv", *BY_R0], "r0: it stops at 48.3% of its training"),
        (["no.csv", *BY_R0], "there is no such file"),
        (["curves.csv.gz", *BY_R0], "curves are .csv or .parquet files, not .gz"),
    ],
)
def test_bad_requests_are_one_line(
    curves: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    FAMILY[FAMILY["tokens"] < 0.5 * FAMILY["tokens_total"]].to_csv("cut.csv", index=False)  # no run is finished
    assert main(["predict", *words]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert not Path("p.gif").exists()


@pytest.mark.parametrize("at", ["0", "1.5", "-0.2", "nan"])
def test_a_fraction_that_is_none_is_refused(curves: Path, at: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", str(curves), "--template", "r0", "--at", at]) == 2
    assert "is no fraction of training" in capsys.readouterr().err
