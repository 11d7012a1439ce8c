"""`collapse fit`: on a file, on a scale, and on anything that it cannot use."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from scaling_collapse.cli.app import main
from scaling_collapse.paths import Paths
from scaling_collapse.surrogate.stored import read_surrogate
from tests.house.files import ROOT
from tests.support.synthetic_curves import write_scale
from tests.unit.surrogate.support import TRUTH
from tests.unit.surrogate.test_study import table

FEW = ["--draws", "10"]


@pytest.fixture
def curves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    table().to_csv("curves.csv", index=False)
    return Path("curves.csv")


def test_constants_errors_and_what_was_left_out_are_shown(curves: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(curves), *FEW]) == 0
    said = capsys.readouterr().out
    assert "Surrogate of 6 runs of size middle, validation loss; tau 0.1 to 0.4, TPP 20 to 80" in said
    rows = {line.split()[0]: line.split() for line in said.splitlines() if line.strip()}
    for name, value in TRUTH.items():
        assert float(rows[name][1]) == pytest.approx(value, rel=0.01)
        assert "fitted" in rows[name]
    assert "fixed" in rows["m"]
    assert "Correlation of log tau and log TPP over these runs: 0.00" in said
    assert rows["large"][1:4] == ["2", "1", "0.00"]
    assert "c: its learning rate does not end at zero" in said
    assert not Path("results").exists()


def test_json_and_output_hold_the_same(curves: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(curves), *FEW, "--size", "middle", "--json", "--output", "mine/s.json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said == json.loads(Path("mine/s.json").read_text(encoding="utf-8"))
    assert said["sizes"] == ["middle"]
    assert said["constants"]["b_e"]["value"] == pytest.approx(TRUTH["b_e"], rel=0.01)


def test_forms_objectives_and_missing_intervals(curves: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(curves), "--form", "free_decay", "--robust", "--draws", "0", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["form"], said["objective"]) == ("free_decay", "robust")
    assert said["constants"]["m"]["verdict"] != "fixed"
    assert said["constants"]["m"]["interval"] is None


def test_a_scale_is_fitted_on_its_smallest_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its curves are drawn with b = .083 tau^-.27 and q = 4.7 TPP^-.51; training noise of .4% a step is left."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    write_scale(Paths("cpu").results)
    assert main(["fit", "--scale", "cpu", *FEW]) == 0
    record = json.loads(Paths("cpu").surrogate.read_text(encoding="utf-8"))
    assert record["sizes"] == ["132k"]
    found = read_surrogate(Paths("cpu").surrogate).surrogate
    assert float(found.b(0.2, 20)) == pytest.approx(0.083 * 0.2**-0.27, rel=0.15)
    assert found.b_e == pytest.approx(-0.27, abs=0.1)
    assert found.q_e == pytest.approx(-0.51, abs=0.15)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["no.csv"], "there is no such file"),
        (["notes.txt"], "curves are .csv or .parquet files, not .txt"),
        (["picture.parquet"], "it is not a readable parquet table"),
        (["curves.csv", "--size", "huge"], "no run of size 'huge' can be fitted"),
        (["curves.csv", "--form", "mine"], "use one of: paper, both_laws, free_decay"),
        (["curves.csv", "--split", "test"], "there is no curve of split 'test'"),
        (["curves.csv", "--output", "s.txt"], "--output is a .json file"),
        (["curves.csv", "--draws", "-1"], "--draws"),
        (["--scale", "huge"], "unknown scale"),
        (["curves.csv", "--output", "notes.txt/s.json"], "it could not be written: "),
        (["two.csv"], "there are 2 splits: validation, other"),
        (["unknown.csv"], "Fix: give column tau, or lr_peak, weight_decay above 0"),
    ],
)
def test_bad_requests_are_one_line(
    curves: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("notes.txt").touch()
    Path("picture.parquet").write_bytes(b"\x89PNG")
    pd.concat([table(), table().assign(split="other")]).to_csv("two.csv", index=False)
    table().assign(tau=None, lr_peak=None, weight_decay=None).to_csv("unknown.csv", index=False)
    assert main(["fit", *words]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
