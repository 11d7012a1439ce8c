"""`collapse advise`: on sweeps whose end is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from scaling_collapse.cli.app import main
from tests.unit.curves.support import shape
from tests.unit.predict.support import family, grid, rows_of, run

SHAPE = shape(grid())
SWEEP = [run(f"lambda{i}", final * SHAPE, size_params=8e8) for i, final in enumerate((3.0, 3.02, 3.055, 3.6))]
SMALL = family(1)  # r0, of another size
BY_R0 = ["--template", "r0", "--at", "0.4"]
FLOPS = 6 * 8e8 * 2e9  # the table has none, so 6*N*D


@pytest.fixture
def sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows_of([*SMALL, *SWEEP]).to_csv("sweep.csv", index=False)
    return Path("sweep.csv")


def of_json(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(["advise", *words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_clear_losers_stop_and_close_runs_go_on(sweep: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = of_json([str(sweep), *BY_R0], capsys)
    assert found["best"] == "lambda0"
    assert found["stop"] == ["lambda2", "lambda3"]
    assert found["flops_left"] == pytest.approx(4 * 0.6 * FLOPS)
    assert found["flops_saved"] == pytest.approx(2 * 0.6 * FLOPS)
    assert 0 <= found["expected_regret_percent"] < 0.1
    chances = {entry["run"]: entry["chance"] for entry in found["runs"]}
    assert chances["lambda1"] > 0.05 > chances["lambda2"] > chances["lambda3"]
    assert found["warnings"] == []


def test_a_smaller_chance_stops_fewer(sweep: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert of_json([str(sweep), *BY_R0, "--least-chance", "0.4999"], capsys)["stop"][0] == "lambda1"
    assert of_json([str(sweep), *BY_R0, "--least-chance", "1e-3"], capsys)["stop"] == ["lambda3"]


def test_the_table_names_the_best_what_it_saves_and_the_truth(sweep: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", str(sweep), *BY_R0]) == 0
    said = capsys.readouterr().out
    words = {line.split()[0]: line.split()[-1] for line in said.splitlines() if line.startswith("lambda")}
    assert words == {"lambda0": "best", "lambda1": "on", "lambda2": "stop", "lambda3": "stop"}
    assert "Stop now: lambda2, lambda3\n" in said
    assert "Saves 1.15e+19 of the 2.3e+19 FLOPs left (50%)" in said
    assert "In truth lambda0 ends best, at 3.000 nats; the predicted best is that run" in said


def test_a_sweep_in_progress_has_no_truth(sweep: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = pd.read_csv(sweep)
    table[(table["run"] == "r0") | (table["tokens"] <= 0.4 * 2e9)].to_csv("now.csv", index=False)
    assert main(["advise", "now.csv", "--template", "r0"]) == 0
    said = capsys.readouterr().out
    assert "Stop now: lambda2, lambda3\n" in said
    assert "In truth" not in said


def test_a_template_of_the_sweep_is_judged_as_finished(sweep: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = of_json([str(sweep), "--template", "lambda0", "--at", "0.4", "--run", "lambda*"], capsys)
    assert found["best"] == "lambda0"
    (own,) = [entry for entry in found["runs"] if entry["run"] == "lambda0"]
    assert (own["progress"], own["method"], own["flops_left"], own["stop"]) == (1.0, "finished", 0.0, False)
    other = of_json([str(sweep), *BY_R0, "--run", "lambda*"], capsys)
    assert "r0" not in [entry["run"] for entry in other["runs"]]


def test_runs_of_several_sizes_are_warned_of_and_flat_ones_stop_nobody(
    sweep: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pd.read_csv(sweep)
    table.loc[table["run"] == "lambda3", "size_params"] = 4e8
    table.loc[table["run"] == "lambda1", "loss"] = 2.0
    table.to_csv("mixed.csv", index=False)
    found = of_json(["mixed.csv", *BY_R0], capsys)
    assert found["best"] == "lambda0"
    assert "no prediction, so these go on: lambda1" in found["warnings"]
    assert any("runs differ in parameters or tokens" in text for text in found["warnings"])
    assert [entry["chance"] for entry in found["runs"] if entry["run"] == "lambda1"] == [None]


def test_unknown_sizes_leave_flops_unknown(sweep: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pd.read_csv(sweep).assign(size_params=None).to_csv("unsized.csv", index=False)
    assert of_json(["unsized.csv", *BY_R0], capsys)["flops_saved"] is None
    assert main(["advise", "unsized.csv", *BY_R0]) == 0
    assert "Saves" not in capsys.readouterr().out


def test_a_picture(sweep: Path) -> None:
    assert main(["advise", str(sweep), *BY_R0, "--picture", "p.png"]) == 0
    assert Path("p.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["sweep.csv", "--template", "lambda"], "did you mean lambda"),
        (["sweep.csv", *BY_R0, "--least-chance", "0.7"], "must lie between 0 and 0.5"),
        (["sweep.csv", "--template", "r0", "--at", "2"], "is no fraction of training"),
        (["sweep.csv", "--template", "r0", "--at", "0.05"], "none of its runs can be predicted"),
        (["sweep.csv", *BY_R0, "--picture", "p"], "pictures are .png, .pdf, .svg files"),
        (["none.parquet", *BY_R0], "there is no such file"),
    ],
)
def test_bad_requests_are_one_line(
    sweep: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["advise", *words]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
