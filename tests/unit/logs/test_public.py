"""Every public file is read without options, and gives what an independent parse of it gives."""

from __future__ import annotations

import csv
import json

import pytest

from scaling_collapse.cli.app import main
from scaling_collapse.curves.table import read_curves
from scaling_collapse.logs.read import read_logs
from tests.unit.logs.support import PUBLIC, RAW, points

pytestmark = pytest.mark.skipif(not RAW.exists(), reason="public curves are not beside this checkout")


def positive(pairs):
    """What a table of curves can hold: steps from 1, losses above zero."""
    return [(int(step), float(loss)) for step, loss in pairs if int(step) >= 1 and float(loss) > 0]


def table(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_all_files_in_one_command_without_options(tmp_path, capsys):
    files = sorted(path for path in RAW.rglob("*") if path.is_file())
    assert len(files) == 10
    assert main(["import", *map(str, files), "-o", str(tmp_path / "curves.parquet"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    frame = read_curves(tmp_path / "curves.parquet")
    assert len(frame) == sum(curve["points"] for curve in said["curves"])
    assert frame["run"].nunique() == 38  # 22 + 8 runs in two files, and one in each of eight


def test_wandb_web_export():
    rows = table(RAW / "wandb_ui_csv" / "wandb_export.csv")
    found = read_logs([RAW / "wandb_ui_csv" / "wandb_export.csv"])
    headings = [name for name in rows[0] if name.endswith(" - train/loss")]
    assert len(headings) == len(found.curves) == 8
    for heading in headings:
        expected = positive((row["Step"], row[heading]) for row in rows if row[heading])
        assert points(found, run=heading.removesuffix(" - train/loss")) == expected


@pytest.mark.parametrize("column", [None, "eval/pile-validation/CrossEntropyLoss"])
def test_wandb_api_history(column):
    from scaling_collapse.logs.options import Options

    path = RAW / "wandb_api_csv" / "olmo_ladder_370M-1xC-rerun.csv"
    rows = table(path)
    found = read_logs([path], Options(validation=column))
    name = column or "eval/c4_en-validation/CrossEntropyLoss"
    assert points(found, "validation") == positive((row["_step"], row[name]) for row in rows)
    (curve,) = found.curves
    assert curve.tokens.tolist() == [float(row["throughput/total_tokens"]) for row in rows]
    assert curve.lr.tolist() == [float(row["optim/learning_rate_group0"]) for row in rows]
    assert curve.facts["batch_tokens"] == float(rows[0]["batch_size_in_tokens"])


def test_trainer_state():
    path = RAW / "hf_trainer_state" / "trainer_state.json"
    history = json.loads(path.read_text())["log_history"]
    found = read_logs([path])
    assert points(found) == positive((r["step"], r["loss"]) for r in history if "loss" in r)
    assert points(found, "validation") == positive((r["step"], r["eval_loss"]) for r in history if "eval_loss" in r)
    (curve,) = (curve for curve in found.curves if curve.split == "train")
    assert curve.lr.tolist() == [r["learning_rate"] for r in history if "loss" in r]


def test_jsonl_of_many_runs():
    path = RAW / "jsonl" / "gemstones_hot_477.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()]
    found = read_logs([path])
    assert len(found.curves) == len({r["run_name"] for r in records})
    for curve in found.curves:
        mine = [r for r in records if r["run_name"] == curve.run]
        assert points(found, run=curve.run) == [(r["step"], r["final_loss"]) for r in mine]
        assert curve.tokens.tolist() == [r["tokens"] for r in mine]
        assert curve.facts["size_params"] == mine[0]["params_active_precise"]


def test_llmc():
    path = RAW / "llmc" / "main.log"
    words = [line.split() for line in path.read_text().splitlines()]
    found = read_logs([path])
    for split, key in (("train", "trl:"), ("validation", "tel:")):
        expected = [(w[0].removeprefix("s:"), w[1].removeprefix(key)) for w in words if w[1].startswith(key)]
        assert points(found, split) == positive(expected)


def test_nanogpt_console():
    path = RAW / "nanogpt_console" / "output.log"
    lines = path.read_text().splitlines()
    train = [line.split() for line in lines if line.startswith("iter ")]
    both = [line.split() for line in lines if line.startswith("step ")]
    found = read_logs([path])
    assert points(found) == positive((w[1].rstrip(":"), w[3].rstrip(",")) for w in train)
    assert points(found, "validation") == positive((w[1].rstrip(":"), w[-1]) for w in both)


@pytest.mark.parametrize("size", ["25M", "100M", "400M"])
def test_plain_csv(size):
    path = RAW / "step_lr_loss_csv" / f"{size}_cosine_24000.csv"
    rows = table(path)
    found = read_logs([path])
    assert points(found) == positive((row["step"], row["loss"]) for row in rows)
    assert found.curves[0].lr.tolist() == [float(row["lr"]) for row in rows]


@pytest.mark.parametrize("name", ["gemstones", "mpl", "olmo_ladder_c4"])
def test_tidy_tables_come_out_as_they_are(name):
    import pandas as pd

    path = PUBLIC / f"{name}.csv"
    columns = ["run", "split", "step"]
    expected = read_curves(path).sort_values(columns, ignore_index=True)
    found = read_logs([path]).frame.sort_values(columns, ignore_index=True)
    pd.testing.assert_frame_equal(found, expected)
