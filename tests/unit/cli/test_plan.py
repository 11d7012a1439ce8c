from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from scaling_collapse.cli.app import main

ROOT = Path(__file__).parents[3]
KEYS = {"run_id", "group", "params", "tokens", "tpp", "batch_tokens", "peak_lr", "weight_decay", "tau", "flops"}


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def output(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["plan", *words]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def test_json_has_one_object_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(output(capsys, "--scale", "paper", "--json"))
    assert all(set(row) >= KEYS for row in rows)
    assert len({row["run_id"] for row in rows}) == len(rows) > 900


def test_csv_has_the_same_runs(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(output(capsys, "--scale", "smoke", "--json"))
    lines = list(csv.DictReader(io.StringIO(output(capsys, "--scale", "smoke", "--csv"))))
    assert [line["run_id"] for line in lines] == [row["run_id"] for row in rows]
    assert [float(line["flops"]) for line in lines] == [row["flops"] for row in rows]


def test_table_lists_every_run_once_and_the_totals(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(output(capsys, "--scale", "smoke", "--json"))
    lines = output(capsys, "--scale", "smoke").splitlines()
    ids = [line.split()[0] for line in lines if "-tpp" in line]
    assert sorted(ids) == sorted(row["run_id"] for row in rows)
    flops = sum(row["flops"] for row in rows)
    assert lines[-1].startswith(f"smoke: {len(rows)} runs in 26 groups, {flops:.3g} FLOPs")


def test_group_shows_all_its_runs(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(output(capsys, "--scale", "smoke", "--group", "tau_by_lr", "--json"))
    assert [row["group"] for row in rows] == ["tau_by_lr"] * 3
    table = output(capsys, "--scale", "smoke", "--group", "tau_by_lr")
    assert all(row["run_id"] in table for row in rows)
    assert "celerity_20tpp" not in table
