"""`collapse train` on the smoke scale, in a folder of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scaling_collapse.cli.app import main
from scaling_collapse.config.load import load_scale
from scaling_collapse.corpus.build import build_corpus
from scaling_collapse.paths import Paths
from scaling_collapse.plan.expand import expand

CONFIG = Path(__file__).parents[3] / "config"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "config").symlink_to(CONFIG)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def smallest_run() -> str:
    return min(expand(load_scale("smoke")), key=lambda run: run.flops).run_id


def test_a_run_is_trained_and_then_left_alone(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    build_corpus(load_scale("smoke").corpus, Paths("smoke"))
    run_id = smallest_run()
    assert main(["train", run_id, "--scale", "smoke", "--progress-seconds", "0.1", "--micro-batch", "8"]) == 0
    lines = capfd.readouterr().err.splitlines()
    assert "starts at step 0/" in lines[0]
    assert "100%  finished" in lines[-1]
    assert {line.split()[0] for line in lines} == {run_id}
    assert json.loads((Paths("smoke").run(run_id) / "run.json").read_text())["status"] == "finished"
    assert main(["train", run_id, "--scale", "smoke"]) == 0
    assert "is trained already" in capfd.readouterr().err


def test_an_unknown_run_is_one_line_with_the_nearest_id(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run_id = smallest_run()
    assert main(["train", f"{run_id}x", "--scale", "smoke"]) == 2
    error = capfd.readouterr().err
    assert f"did you mean {run_id!r}?" in error
    assert error.count("\n") == 1
    assert main(["train", "zzz", "--scale", "smoke"]) == 2
    assert "collapse plan --scale smoke" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "there is no corpus here"),
        (["--threads", "0"], "--threads: 0; expected"),
        (["--device", "x"], "--device: 'x'"),
    ],
)
def test_faults_are_one_line_and_leave_no_run(
    root: Path, capfd: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert main(["train", smallest_run(), "--scale", "smoke", *options]) == 2
    error = capfd.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (root / "results").exists()
    assert not (root / ".work").exists()


def test_a_corpus_of_other_settings_is_refused(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    settings = load_scale("smoke").corpus
    build_corpus(settings.model_copy(update={"split_salt": "other"}), Paths("smoke"))
    assert main(["train", smallest_run(), "--scale", "smoke"]) == 2
    error = capfd.readouterr().err
    assert "corpus.split_salt: the corpus on disk was built with other" in error
    assert error.count("\n") == 1
    assert not Paths("smoke").run(smallest_run()).exists()
