"""docs/own-runs.md from its first line to its last: commands on the logs that they make, and code in trainings."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.house.files import ROOT
from tests.unit.live.support import BATCH, letters

PAGE = (ROOT / "docs" / "own-runs.md").read_text(encoding="utf-8")
LINES = [line for block in re.findall(r"^```bash\n(.*?)^```", PAGE, re.M | re.S) for line in block.splitlines()]
CODE = dict(re.findall(r"^### ([^\n]*)\n(?:(?!^###).)*?^```python\n(.*?)^```", PAGE, re.M | re.S))
REFERENCE = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the page is read: with its logs, and the table that its commands made of them."""
    place = tmp_path_factory.mktemp("reader")
    (place / "examples").symlink_to(ROOT / "examples")
    return place


@pytest.fixture(scope="module")
def said(folder: Path) -> dict[str, str]:
    """What each line of the page printed; each ends with the exit code that the page says."""
    found = {}
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *sys.path])}
    for line in LINES:
        command, _, comment = line.partition("  # ")
        program, _, arguments = command.partition(" ")
        run = {"collapse": f"{sys.executable} -m scaling_collapse.cli.app", "python": sys.executable}[program]
        done = subprocess.run(
            f"{run} {arguments}", shell=True, cwd=folder, env=environment, capture_output=True, text=True
        )
        assert done.returncode == int(comment.removeprefix("exit code ") or 0), line + done.stderr
        found[command] = done.stdout
    return found


def test_the_commands_say_what_the_page_says(said: dict[str, str], folder: Path) -> None:
    words = {command.split()[1]: text for command, text in said.items() if command.startswith("collapse")}
    assert "4 runs do not collapse" in words["check"]
    assert re.search(r"outlier +broken", words["check"])
    medium, large = (re.search(rf"{run} .* ([+-][\d.]+)  ", words["predict"]) for run in ("medium", "large"))
    assert medium
    assert large
    assert max(abs(float(medium[1])), abs(float(large[1]))) < 1.5
    assert "no alarm" in said["collapse watch logs/broken.csv --once"]
    assert "ALARM broken: drift" in words["watch"]
    assert "</html>" in (folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture
def reference(said: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Names after the page's first lines of Python, in the reader's folder."""
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    exec(compile(REFERENCE, "own-runs.md", "exec"), names)
    return names


def test_any_loop(reference: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    with open("logs/broken.csv", encoding="utf-8") as file:
        rows = [(int(row["step"]), float(row["loss"])) for row in csv.DictReader(file)]
    names = reference | {"total_steps": len(rows), "training": lambda: iter(rows)}
    exec(compile(CODE["Any loop"], "own-runs.md", "exec"), names)
    lines = capsys.readouterr().out.splitlines()
    shown = re.findall(r"^```text\n(200 final.*?)^```", PAGE, re.M | re.S)[0].splitlines()
    assert [line.split()[0] for line in lines] == [line.split()[0] for line in shown]
    (alarm,) = (line for line in lines if line.startswith("ALARM"))
    assert re.match(r"ALARM \d+ drift [678]\d\d ", alarm)


def test_hugging_face_trainer(reference: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    from tests.unit.live.test_hf_trainer import Text, trainer

    made = trainer(tmp_path, None, max_steps=30, report_to=["tensorboard"])
    names = reference | {"model": made.model, "arguments": made.args, "data": Text()}
    exec(compile(CODE["Hugging Face Trainer"], "own-runs.md", "exec"), names)
    assert names["trainer"].state.global_step == 30
    assert "collapse/predicted_final_loss" in names["trainer"].state.log_history[20]
    assert list(tmp_path.rglob("events.out.tfevents.*"))


@pytest.mark.filterwarnings("ignore")
def test_lightning(reference: dict[str, Any]) -> None:
    pytest.importorskip("lightning")
    from torch.utils.data import DataLoader, TensorDataset

    from tests.unit.live.test_lightning import Table

    batches = DataLoader(TensorDataset(letters(50 * BATCH)), batch_size=BATCH)

    class WithValidation(Table):
        def val_dataloader(self) -> DataLoader[tuple[torch.Tensor, ...]]:
            return batches

    names = reference | {"module": WithValidation(200), "data": batches}
    exec(compile(CODE["Lightning"], "own-runs.md", "exec"), names)
    watch = names["watcher"].watch
    assert watch.monitor.train.bins.last_step == list(range(10, 201, 10))
    assert watch.monitor.validation.bins.last_step == [50, 100, 150, 200]
    assert watch.prediction() is not None
