from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

from scaling_collapse.cli.app import main
from scaling_collapse.config.load import load_scale
from scaling_collapse.paths import Paths
from scaling_collapse.plan.expand import expand
from tests.unit.curves.support import write_run

ROOT = Path(__file__).parents[3]
HEADLINE = ("celerity_20tpp", "fixed_weight_decay", "equal_tokens")


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Work in a folder with the smoke scale's file and the ended runs of its headline."""
    (tmp_path / "config" / "scale").mkdir(parents=True)
    shutil.copy(ROOT / "config" / "scale" / "smoke.yaml", tmp_path / "config" / "scale")
    monkeypatch.chdir(tmp_path)
    runs = [run for run in expand(load_scale("smoke")) if set(run.groups) & set(HEADLINE)]
    for run in runs:
        write_run(Paths("smoke"), run)
    return runs


def test_curves_of_groups_then_the_headline(runs, capsys):
    groups = [word for group in HEADLINE for word in ("--group", group)]
    assert main(["curves", "--scale", "smoke", *groups]) == 0
    assert "celerity_20tpp.parquet" in capsys.readouterr().out.replace("\n", "")
    table = pd.read_parquet(Paths("smoke").group_curves("equal_tokens"))
    assert set(table["run"]) == {run.run_id for run in runs if "equal_tokens" in run.groups}

    assert main(["table", "headline", "--scale", "smoke"]) == 0
    assert "collapsed" in capsys.readouterr().out
    headline = pd.read_csv(Paths("smoke").table("headline"))
    assert headline["family"].tolist() == ["collapsed", "fixed_weight_decay", "equal_tokens"]

    assert main(["table", "runs", "--scale", "smoke"]) == 0
    statuses = pd.read_csv(Paths("smoke").table("runs"))["status"]
    assert (statuses == "finished").sum() == len(runs)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["curves"], "nothing was asked for"),
        (["curves", "--group", "celerity_20tp"], "did you mean celerity_20tpp"),
        (["curves", "--all"], "this run is not finished"),
        (["table", "headline"], "there is no such file"),
        (["table", "headlines"], "did you mean headline"),
    ],
)
def test_faults_are_one_line_and_leave_nothing(runs, words, message, capsys):
    assert main([*words, "--scale", "smoke"]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not Paths("smoke").curves.exists()
    assert not (Paths("smoke").results / "tables").exists()
