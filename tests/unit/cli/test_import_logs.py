from __future__ import annotations

import json
from pathlib import Path

import pytest

from scaling_collapse.cli.app import main
from scaling_collapse.curves.table import read_curves
from tests.unit.logs.samples import SAMPLES, TRAIN


@pytest.fixture
def log(tmp_path, monkeypatch):
    """Work in an empty folder with one log."""
    monkeypatch.chdir(tmp_path)
    text = "Traceback (most recent call last):\n" + SAMPLES["nanogpt"].text.replace("iter 20:", "iter 20;")
    Path("gpt2.log").write_text(text)
    return Path("gpt2.log")


def test_a_log_becomes_a_table_and_says_what_was_done(log, capsys):
    assert main(["import", str(log), "-o", "curves.parquet"]) == 0
    said = capsys.readouterr().out
    for words in (
        "curves.parquet: 1 run, 43 losses",
        "gpt2.log",
        "format: nanogpt",
        "column 'val loss'",
        "1 traceback",
    ):
        assert words in said
    assert "1 damaged line, left out (iter 20; loss" in said
    assert "--loss" in said
    table = read_curves(Path("curves.parquet"))
    assert table[table["split"] == "train"]["step"].tolist() == [step for step, _ in TRAIN if step != 20]


def test_without_output_nothing_is_written(log, capsys):
    assert main(["import", str(log)]) == 0
    assert "not written" in capsys.readouterr().out
    assert [path.name for path in Path().iterdir()] == ["gpt2.log"]


def test_json(log, capsys):
    words = ["--json", "--run", "mine", "--tokens-per-step", "1000", "--fact", "tokens_total=4e4"]
    assert main(["import", str(log), "-o", "c.csv", *words]) == 0
    said = json.loads(capsys.readouterr().out)
    (train,) = [curve for curve in said["curves"] if curve["split"] == "train"]
    assert (train["run"], train["points"], train["last_step"], train["last_tokens"]) == ("mine", 39, 40, 40000.0)
    assert (train["first_loss"], train["last_loss"]) == (TRAIN[0][1], TRAIN[-1][1])
    assert {"where", "what", "value", "option"} == set(said["guesses"][0])
    assert {"where", "count", "what", "example", "lost"} == set(said["notes"][0])
    assert read_curves(Path("c.csv"))["tokens_total"].unique().tolist() == [4e4]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.log"], "none.log: cannot be read"),
        (["gpt2.log", "--format", "nanogp"], "did you mean nanogpt?"),
        (["gpt2.log", "--format", "jsonl"], "no losses found as format jsonl"),
        (["gpt2.log", "--loss", "x"], "--loss x: no losses under that name"),
        (["gpt2.log", "--fact", "x=1"], "expected COLUMN=VALUE"),
        (["gpt2.log", "-o", "c.xlsx"], ".parquet or .csv"),
        (["gpt2.log", "--tokens-per-step", "-1"], "--tokens-per-step"),
        ([], "'files'"),
    ],
)
def test_faults_are_one_line_and_leave_nothing(log, words, message, capsys):
    output = [] if "-o" in words else ["-o", "c.parquet"]
    assert main(["import", *words, *output]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert [path.name for path in Path().iterdir()] == ["gpt2.log"]


def test_a_log_is_not_overwritten(log, capsys):
    Path("a.csv").write_text("step,loss\n1,3\n2,2\n")
    assert main(["import", "a.csv", "-o", "./a.csv"]) == 2
    assert "would overwrite it" in capsys.readouterr().err
    assert Path("a.csv").read_text().startswith("step")


def test_names_with_brackets_are_shown_as_they_are(log, capsys):
    Path("x.jsonl").write_text(
        '{"run": "[red]a[/b]", "step": 1, "loss": 3}\n{"run": "[red]a[/b]", "step": 2, "loss": 2}\n'
    )
    assert main(["import", "x.jsonl"]) == 0
    assert "[red]a[/b]" in capsys.readouterr().out
