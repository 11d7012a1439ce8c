"""The closing table."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scaling_collapse.cli.app import main
from tests.house.files import ROOT

CSV = """family,tpp_min,tpp_max,tau_min,tau_max,sizes,\
spread_percent,spread_of_range_percent,noise_floor_percent,diverged_runs
collapsed,20.0,20.0,0.2,0.2,4,0.3,2.1,0.15,
fixed_weight_decay,20.0,20.0,0.0568,0.2,4,1.5,10.2,,132k-x-s0
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "config", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


@pytest.fixture
def results(root: Path) -> Path:
    folder = root / "results" / "smoke"
    (folder / "tables").mkdir(parents=True)
    (folder / "figures").mkdir()
    (folder / "tables" / "headline.csv").write_text(CSV, encoding="utf-8")
    for name in ("headline", "fig_05_compression"):
        (folder / "figures" / f"{name}.png").touch()
    return folder


def test_numbers_and_pictures(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["results", "--scale", "smoke"]) == 0
    said = capsys.readouterr().out
    rows = {line.split("  ")[0]: line.split()[-6:] for line in said.splitlines()}
    assert rows["collapsed"] == ["20", "0.2", "0.3", "1.0", "2.1", "0.15"]
    assert rows["fixed weight decay"] == ["20", "0.0568-0.2", "1.5", "5.0", "10.2", "-"]
    assert "Left out of fixed_weight_decay, since diverged: 132k-x-s0" in said
    assert "results/smoke/figures/headline.png" in said
    assert "results/smoke/figures/fig_05_compression.png" in said
    assert "claim nothing" in said


def test_one_target(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["results", "--scale", "smoke", "--target", "headline"]) == 0
    said = capsys.readouterr().out
    assert "collapsed" in said
    assert "headline.png" in said
    assert "fig_05" not in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "fig_05_compresion"], "did you mean fig_05_compression?"),
        (["--target", "headline"], "snakemake headline --config scale=smoke"),
        ([], "no results there yet"),
    ],
)
def test_bad_requests_are_one_line(
    root: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert main(["results", "--scale", "smoke", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert words in said.err
