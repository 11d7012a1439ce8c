from __future__ import annotations

import gzip
import json

import numpy as np
import pandas as pd
import pytest

from scaling_collapse.cli.watch_finished import in_order, read_finished, said_of, watch_finished
from scaling_collapse.cli.watch_setting import Setting
from scaling_collapse.curves.curve import curves_of
from scaling_collapse.curves.table import checked
from scaling_collapse.diagnose.diagnose import diagnose_curve
from scaling_collapse.logs.curves import Losses
from scaling_collapse.logs.options import Options
from tests.unit.cli.watch_support import DIVERGING, NAN, STEPS, T, healthy, lines
from tests.unit.curves.support import rows
from tests.unit.diagnose.support import course, noisy


def losses(splits, split, step):
    nothing = np.full(len(step), np.nan)
    return Losses(splits, np.array(split), np.array(step), np.ones(len(step)), nothing, nothing)


def test_splits_one_after_the_other_are_put_in_order_of_steps():
    table = losses(("validation", "train"), [0, 0, 1, 1, 1], [10, 20, 5, 10, 20])
    assert in_order(table).tolist() == [2, 3, 0, 4, 1]


def test_a_log_with_a_restart_keeps_its_order():
    log = losses(("train", "validation"), [0, 1, 0, 0, 1, 0], [10, 10, 20, 15, 10, 20])
    assert in_order(log).tolist() == list(range(6))


RNG = np.random.default_rng(0)
TABLE = pd.concat(
    [
        rows("good", noisy(RNG, course(T))),
        rows("bad", noisy(RNG, course(T)) * (1 + np.clip(T - 0.5, 0, None)), size_params=2e5),
    ]
)
HELD_OUT = rows("good", (course(T) + np.clip(T - 0.5, 0, None))).iloc[49::50].assign(split="validation")


def kinds(path, options=None, **setting):
    runs = watch_finished(read_finished(path, options or Options()).runs, Setting(**setting))
    return [(name, alarm.kind) for name, run in runs.items() for alarm in run.alarms]


def write_json(path):
    with path.open("w") as file:
        for row in pd.concat([TABLE, HELD_OUT]).to_dict("records"):
            file.write(json.dumps({"run": row["run"], "step": row["step"], f"{row['split']}/loss": row["loss"]}) + "\n")


def write_wide(path):
    wide = TABLE.pivot(index="step", columns="run", values="loss").rename(columns=lambda run: f"{run} - train/loss")
    wide["good - val/loss"] = HELD_OUT.set_index("step")["loss"]
    wide[["good - train/loss", "good - val/loss", "bad - train/loss"]].reset_index(names="Step").to_csv(
        path, index=False
    )


WAYS = {
    "tidy.csv": lambda path: pd.concat([HELD_OUT, TABLE]).to_csv(path, index=False),
    "tidy.parquet": lambda path: pd.concat([TABLE, HELD_OUT]).to_parquet(path),
    "few.parquet": lambda path: pd.concat([TABLE, HELD_OUT])[["run", "step", "loss", "split"]].to_parquet(path),
    "wide.csv": write_wide,
    "log.jsonl": write_json,
}


@pytest.mark.parametrize("name", WAYS)
def test_a_table_of_any_kind_gives_the_alarms_of_its_runs(name, tmp_path):
    WAYS[name](tmp_path / name)
    assert kinds(tmp_path / name) == [("good", "train_validation_split"), ("bad", "divergence")]


def test_training_losses_of_a_tidy_table_are_adjusted_for_the_difficulty_of_their_batches(tmp_path):
    rng = np.random.default_rng(1)
    difficulty = 0.15 * rng.standard_normal(STEPS)
    loss = noisy(rng, course(T), 0.01) * np.where(T > 0.6, 1.06, 1.0)
    table = checked(rows("run", loss + difficulty, difficulty_nats=difficulty), "test")
    table.to_parquet(tmp_path / "t.parquet")
    runs = watch_finished(read_finished(tmp_path / "t.parquet", Options()).runs, Setting())
    (curve,) = curves_of(table, "train")
    assert tuple(runs["run"].alarms) == diagnose_curve(curve).alarms
    assert runs["run"].alarms[0].onset_fraction == pytest.approx(0.6, abs=0.02)
    (raw,) = curves_of(table.drop(columns="difficulty_nats"), "train")
    assert tuple(runs["run"].alarms) != diagnose_curve(raw).alarms


def test_fractions_refer_to_the_length_that_a_table_or_the_user_tells(tmp_path):
    half = TABLE[(TABLE["run"] == "bad") & (TABLE["step"] <= 800)]
    half.to_csv(tmp_path / "half.csv", index=False)
    found = read_finished(tmp_path / "half.csv", Options()).runs
    (alarm,) = watch_finished(found, Setting())["bad"].alarms
    assert alarm.onset_fraction == pytest.approx(alarm.onset_step / STEPS)
    (alarm,) = watch_finished(found, Setting(total_steps=1600))["bad"].alarms
    assert alarm.onset_fraction == pytest.approx(alarm.onset_step / 1600)


def test_a_table_that_is_no_good_curve_is_read_as_a_log(tmp_path):
    broken = TABLE[TABLE["run"] == "good"].copy()
    broken.loc[broken["step"] > 900, "loss"] = np.nan
    broken["loss"] = broken["loss"].astype(object).where(broken["loss"].notna(), "NaN")
    broken.to_csv(tmp_path / "nan.csv", index=False)
    assert kinds(tmp_path / "nan.csv") == [("good", "not_a_number"), ("good", "divergence")]


def test_packed_logs(tmp_path):
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(lines([*DIVERGING, (1001, NAN)]).encode()))
    assert kinds(tmp_path / "a.log.gz") == [("a", "divergence"), ("a", "not_a_number")]


def test_references_are_said_of_a_few_runs_each_and_of_many_in_one_line(tmp_path):
    TABLE.to_csv(tmp_path / "t.csv", index=False)
    found = read_finished(tmp_path / "t.csv", Options()).runs
    (reference,) = curves_of(checked(rows("other", course(T)), "test"), "train")
    runs = watch_finished(found, Setting(references=[reference]))
    assert said_of(runs) == [
        "good, bad: held against other",
        "bad: tokens per parameter is 0.5 times that of other, so only larger faults are told",
    ]
    for number, run in enumerate(runs.values()):
        run.against = tuple(f"held against {number}.{i}" for i in range(5))
    assert said_of(runs) == ["2 runs, held against the finished runs that fit each of them best"]


def test_healthy_is_silent(tmp_path):
    (tmp_path / "a.log").write_text(lines(healthy()))
    assert kinds(tmp_path / "a.log") == []
