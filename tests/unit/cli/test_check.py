"""`collapse check`: verdicts, numbers and bad input. The measures: tests/unit/diagnose/test_family_check.py."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from scaling_collapse.cli.app import main
from scaling_collapse.diagnose.family_check import check_family
from tests.unit.cli.watch_support import T, healthy, write
from tests.unit.predict.support import family, rows_of

FAMILY = rows_of(family())  # r0 to r3 collapse exactly
KEYS = ["spread_percent", "spread_of_range_percent", "noise_floor_percent", "collapses", "outliers", "mismatches"]


@pytest.fixture
def curves(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FAMILY.to_csv("curves.csv", index=False)
    odd = FAMILY.copy()
    of_r2 = odd["run"] == "r2"
    odd.loc[of_r2, "loss"] *= 1 + 0.2 * (1 - odd.loc[of_r2, "tokens"] / odd.loc[of_r2, "tokens_total"])
    odd.loc[of_r2, "tpp"] = 80.0
    odd.to_csv("odd.csv", index=False)
    return Path("curves.csv")


def test_runs_that_collapse(curves, capsys):
    assert main(["check", str(curves), "--json"]) == 0
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert list(found) == KEYS
    assert found == check_family(family()).as_json()
    assert found["collapses"]
    assert said.err == ""


def test_words(curves, capsys):
    assert main(["check", str(curves)]) == 0
    said = capsys.readouterr().out
    for words in ("4 runs collapse (validation)", "spread ", "of dynamic range ", "noise floor ", "irreducible loss "):
        assert words in said
    assert "outlier" not in said


def test_the_run_that_does_not_fit_and_what_does_not_match_are_named(curves, capsys):
    assert main(["check", "odd.csv", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["outliers"] == ["r2"]
    assert found["mismatches"] == ["tokens per parameter from 20 (r0) to 80 (r2), a ratio of 4"]
    assert main(["check", "odd.csv"]) == 1
    said = capsys.readouterr().out
    assert "4 runs do not collapse" in said
    assert "outlier           r2" in said
    assert "does not match    tokens per parameter" in said
    assert main(["check", "odd.csv", "--run", "r[013]"]) == 0


def test_logs_are_read_as_import_does_and_guesses_go_to_stderr(curves, capsys):
    for seed, scale in enumerate((1.0, 0.9, 0.8)):
        write(Path(f"{seed}.log"), [(step, scale * loss) for step, loss in healthy(seed)])
    assert main(["check", "0.log", "1.log", "2.log", "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["collapses"]
    assert "guessed format: nanogpt; train: column 'train loss'" in said.err
    assert "taken as finished" in said.err
    assert main(["check", "0.log", "1.log"]) == 0
    assert "not compared      tokens per parameter, tau, schedules: not known" in capsys.readouterr().out


def test_a_run_that_ends_above_is_an_outlier(curves, capsys):
    rising = [(step, loss * (1 + 0.8 * t)) for (step, loss), t in zip(healthy(3), T, strict=True)]
    for name, points in (("a", healthy(0)), ("b", healthy(1)), ("c", rising)):
        write(Path(f"{name}.log"), points)
    assert main(["check", "a.log", "b.log", "c.log", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["outliers"] == ["c"]


def test_unfinished_runs_are_left_out_and_named(curves, capsys):
    half = FAMILY[(FAMILY["run"] != "r3") | (FAMILY["tokens"] <= 0.5 * FAMILY["tokens_total"])]
    half.to_csv("half.csv", index=False)
    assert main(["check", "half.csv", "--json"]) == 0
    assert capsys.readouterr().err == "left out, since not finished or diverged: r3\n"
    assert main(["check", "half.csv"]) == 0
    assert "left out          r3" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.csv"], "none.csv: cannot be read (No such file or directory)"),
        (["empty.csv"], "empty.csv: no losses in it"),
        (["garbage.csv"], "garbage.csv: no losses were recognised in it"),
        (["garbage.parquet"], "garbage.parquet: no losses were recognised in it"),
        (["curves.csv", "--run", "r0x"], "there is no such run in the table. Fix: did you mean r0?"),
        (["curves.csv", "--run", "r0"], "1 finished run(s) of different recipes; need two"),
        (["curves.csv", "--split", "x"], "there is no curve of split 'x'"),
        (["late.csv"], "r0: its losses begin at 50% of training; runs are compared from 20% on"),
        (["a.log", "--format", "nanogp"], "did you mean nanogpt?"),
        (["a.log", "--loss", "x"], "no losses under that name"),
        ([], "Missing argument 'curves'"),
    ],
)
def test_bad_input_is_one_line(curves, words, message, capsys):
    Path("empty.csv").touch()
    garbage = np.random.default_rng(0).bytes(3000)
    Path("garbage.csv").write_bytes(garbage)
    Path("garbage.parquet").write_bytes(garbage)
    FAMILY[FAMILY["tokens"] >= 0.5 * FAMILY["tokens_total"]].to_csv("late.csv", index=False)
    write(Path("a.log"), healthy())
    assert main(["check", *words]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
