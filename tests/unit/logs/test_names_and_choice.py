"""Which column is which loss, and what runs are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from scaling_collapse.errors import LogError
from scaling_collapse.logs.choose import check_named, choose
from scaling_collapse.logs.layout import layout_of
from scaling_collapse.logs.names import is_loss, is_validation
from scaling_collapse.logs.options import Options, parse_facts
from scaling_collapse.logs.run_names import run_names
from tests.unit.logs.samples import SAMPLES
from tests.unit.logs.support import points, read

# As wandb, TensorBoard, Lightning, Hugging Face, torchtitan, litgpt, Megatron and OLMo write them.
TRAIN = ["loss", "train/loss", "train_loss", "train_loss_step", "training_loss", "Train/Loss", "trainLoss", "lm loss"]
TRAIN += ["loss_metrics/global_avg_loss", "train/CrossEntropyLoss", "Train/Samples/train_loss", "final_loss", "nll"]
VALIDATION = ["val/loss", "val_loss", "eval_loss", "eval/loss", "valid_loss", "validation_metrics/loss", "Loss/test"]
VALIDATION += ["eval/c4_en-validation/CrossEntropyLoss", "valLoss", "metric/val_loss", "validation loss", "dev/nll"]
OTHER = [
    "loss scale",
    "loss_scale",
    "train/loss_scale",
    "lr",
    "accuracy",
    "best_val_loss",
    "loss_metrics/global_max_loss",
]
OTHER += ["grad_norm", "val_ppl", "step", "loss_weight", "glossary", "loss_ratio"]
OTHER += ["collapse/predicted_final_loss", "train/collapse/predicted_final_loss"]


def test_names_of_losses():
    assert [name for name in TRAIN if not is_loss(name) or is_validation(name)] == []
    assert [name for name in VALIDATION if not is_loss(name) or not is_validation(name)] == []
    assert [name for name in OTHER if is_loss(name)] == []


@pytest.mark.parametrize(
    ("columns", "train", "validation"),
    [
        (["train/aux_loss", "train/loss"], "train/loss", None),
        (["train_loss_epoch", "train_loss_step", "val_loss"], "train_loss_step", "val_loss"),
        (["lm loss", "mtp_1 loss", "load_balancing_loss"], "lm loss", None),
        (["eval/a-validation/loss", "eval/b-validation/loss", "eval/loss"], None, "eval/loss"),
        (["eval/a-validation/loss", "eval/b-validation/loss"], None, "eval/a-validation/loss"),
        (["kl_loss"], "kl_loss", None),
        (["test_loss", "val_loss"], None, "test_loss"),
        (["train_loss", "validation_loss", "loss"], "train_loss", "validation_loss"),
    ],
)
def test_the_plainest_name_counts(columns, train, validation):
    chosen = {split: column for column, split in choose(dict.fromkeys(columns, 10), Options()).items()}
    assert chosen.get("train") == train
    assert chosen.get("validation") == validation


def test_a_nearly_empty_column_gives_way():
    assert choose({"train/train_loss": 1, "train/loss": 500}, Options()) == {"train/loss": "train"}


def test_options_name_columns():
    counts = {"a_loss": 5, "b": 5, "val_loss": 5}
    assert choose(counts, Options(loss="b")) == {"b": "train", "val_loss": "validation"}
    assert choose(counts, Options(loss="val_loss")) == {"val_loss": "train"}
    assert choose(counts, Options(validation="a_loss")) == {"a_loss": "validation", "b": "train"}
    assert choose(counts, Options(all_losses=True))["b"] in ("b", "train")
    with pytest.raises(LogError, match=r"--loss c: no losses under that name in x. Fix: use one of: a_loss, b,"):
        check_named(counts, Options(loss="c"), "x")


def test_a_named_column_need_not_look_like_a_loss(tmp_path):
    text = "step,ce,other\n1,3.5,1\n2,3.4,1\n"
    assert points(read(tmp_path, text, loss="ce")) == [(1, 3.5), (2, 3.4)]
    with pytest.raises(LogError, match="no losses were recognised"):
        read(tmp_path, text)


def test_estimated_training_losses_can_be_had(tmp_path):
    found = read(tmp_path, SAMPLES["nanogpt"].text, all_losses=True)
    assert [step for step, _ in points(found, "estimated train loss")] == [10, 20, 30, 40]


@pytest.mark.parametrize(
    ("names", "step"),
    [
        (["_step", "trainer/global_step", "loss"], "trainer/global_step"),
        (["epoch", "Step", "loss"], "Step"),
        (["ITERATION", "loss"], "ITERATION"),
        (["time", "loss"], None),
    ],
)
def test_columns_of_steps(names, step):
    assert layout_of(names, Options()).step_name == step


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["a/output.log", "b/output.log"], ["a", "b"]),
        (["runs/gpt2-small.log.gz"], ["gpt2-small"]),
        (["logs/exp/version_3/metrics.csv"], ["exp/version_3"]),
        (["out/my-run/checkpoint-5000/trainer_state.json"], ["my-run"]),
        (["x/run-7.jsonl", "y/run-7.jsonl"], ["x/run-7.jsonl", "y/run-7.jsonl"]),
        (
            ["tb/r1/events.out.tfevents.1.h", "tb/r1/events.out.tfevents.2.h", "tb/r2/events.out.tfevents.1.h"],
            ["r1", "r1", "r2"],
        ),
        (["1.5B.log", "0.5B.txt"], ["1.5B", "0.5B"]),
    ],
)
def test_runs_are_called_after_files_and_folders(files, names):
    assert run_names([Path("/data") / file for file in files]) == names
    assert run_names([Path(file) for file in files], "mine") == ["mine"] * len(files)


def test_the_same_file_names_far_apart_stay_apart():
    paths = [Path("/p/a/x/run.log"), Path("/p/b/x/run.log")]
    assert len(set(run_names(paths))) == 2


def test_facts_from_words():
    assert parse_facts(["tokens_total=2e9", "schedule=wsd"]) == {"tokens_total": 2e9, "schedule": "wsd"}
    for word, message in (
        ("tokens=1", "columns: size_params"),
        ("seed=x", "'x' is not a number"),
        ("seed", "COLUMN=VALUE"),
    ):
        with pytest.raises(LogError, match=message):
            parse_facts([word])
