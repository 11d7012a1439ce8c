"""A scale as the pipeline sees it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from scaling_collapse.errors import ConfigError
from scaling_collapse.stages.study import RUN_FILES, Study, read_study
from tests.house.files import ROOT


@pytest.fixture(scope="module")
def study() -> Study:
    return read_study("smoke", ROOT)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Configuration alone, to be edited."""
    for name in ("config", "data"):
        shutil.copytree(ROOT / name, tmp_path / name)
    return tmp_path


def test_groups_hold_every_run_once(study: Study) -> None:
    assert {run_id for runs in study.groups.values() for run_id in runs} == set(study.runs)
    assert all(len(set(runs)) == len(runs) for runs in study.groups.values())


def test_spec_is_the_run_without_its_groups(study: Study) -> None:
    run_id, run = next(iter(study.runs.items()))
    spec = json.loads(study.spec(run_id))
    assert "groups" not in spec
    assert spec["optimizer"]["peak_lr"] == run.optimizer.peak_lr
    assert len({study.spec(run_id) for run_id in study.runs}) == len(study.runs)


def test_the_longest_run_has_the_highest_priority(study: Study) -> None:
    ranked = sorted(study.runs, key=study.priority)
    assert [study.runs[run_id].flops for run_id in ranked] == sorted(run.flops for run in study.runs.values())
    assert study.priority(ranked[-1]) < 100, "stages that are not trainings have priority 100"


def test_memory_counts_weights_gradients_moments_and_a_copy(study: Study) -> None:
    run = next(iter(study.runs.values())).model_copy(update={"params": 1_000_000_000})
    large = Study(study.scale, study.paths, {"x": run}, {})
    assert large.memory_mb("x") == 1000 + 5 * 4 * 1000  # five float32 copies of 1e9 numbers, in units of 1e6 bytes


def test_files(study: Study) -> None:
    root = ROOT / "results" / "smoke"
    assert study.run_files(["x"], RUN_FILES) == [
        f"{root}/runs/x/{name}" for name in ("train.parquet", "validation.parquet", "weights.safetensors", "run.json")
    ]
    assert study.figure_inputs("headline") == [
        f"{root}/curves/celerity_20tpp.parquet",
        f"{root}/curves/fixed_weight_decay.parquet",
        f"{root}/curves/equal_tokens.parquet",
    ]
    assert study.figure_inputs("fig_05_compression") == []


def test_the_corpus_changes_with_a_package_and_not_with_epochs() -> None:
    study = read_study("cpu", ROOT)
    corpus = study.scale.corpus

    def identity(**changes: object) -> str:
        scale = study.scale.model_copy(update={"corpus": corpus.model_copy(update=changes)})
        return Study(scale, study.paths, {}, {}).corpus_identity()

    assert identity(max_epochs=1) == identity(max_epochs=4)
    assert identity(vocabulary=2048) != identity(vocabulary=1024)
    wheels = [name for name, _ in json.loads(identity())["files"]]
    assert len(wheels) == 3
    assert all(name.endswith(".whl") for name in wheels)


def test_own_files_are_inputs_of_the_corpus(copy: Path) -> None:
    study = read_study("smoke", copy)
    source = {"kind": "files", "parts": [{"path": "texts/*.txt"}]}
    corpus = type(study.scale.corpus).model_validate({"source": source})
    (copy / "texts").mkdir()
    for name in ("b.txt", "a.txt", "c.jsonl"):
        (copy / "texts" / name).write_text("text", encoding="utf-8")
    mine = Study(study.scale.model_copy(update={"corpus": corpus}), study.paths, {}, {})
    assert mine.corpus_inputs() == ["texts/a.txt", "texts/b.txt"]
    assert study.corpus_inputs() == []


def test_a_figure_of_a_group_that_the_scale_lacks_is_refused(copy: Path) -> None:
    figures = copy / "config" / "figures.yaml"
    text = figures.read_text(encoding="utf-8")
    figures.write_text(text.replace("[celerity_20tpp, celerity_80tpp]", "[celerity_21tpp]"), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"fig_06_celerity_collapse: groups: .*found celerity_21tpp"):
        read_study("smoke", copy)
