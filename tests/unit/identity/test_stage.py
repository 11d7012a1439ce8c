"""Keys and records against DVC's own, made from the same stage."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from dvc.repo import Repo
from dvc.stage import PipelineStage, create_stage
from dvc.stage.cache import _get_cache_hash, _get_stage_hash
from dvc.stage.serialize import to_single_stage_lockfile

from scaling_collapse.identity.hashing import Hashes, content_of
from scaling_collapse.identity.stage import Stage, contents_of, key_of, meaning_of, value_of

STAGE = Stage(
    name="smoke-train-a",
    title="Train a",
    rule="train",
    command="collapse train a --scale smoke --threads -",
    settings={"scale": "smoke", "spec": {"tpp": 20.0, "tau": None, "name": "µ"}},
    inputs=("data/tokens.bin", "code.json"),
    outputs=("results/b.parquet", "results/a.json"),
    logs=("logs/a.log",),
)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Repo.init(no_scm=True)
    for number, path in enumerate((*STAGE.inputs, *STAGE.files)):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(b"x" * number + bytes([number]))
    return tmp_path


def dvc_stage(root: Path) -> Any:
    stage = create_stage(
        PipelineStage,
        repo=Repo(str(root)),
        path=str(root / "dvc.yaml"),
        wdir=str(root),
        name=STAGE.name,
        cmd=STAGE.line,
        deps=list(STAGE.inputs),
        outs=list(STAGE.files),
    )
    stage.save()
    return stage


def test_key_record_and_its_name_are_those_that_dvc_would_use(repository: Path) -> None:
    theirs = dvc_stage(repository)
    contents = {path: content_of(repository / path) for path in (*STAGE.inputs, *STAGE.files)}
    record = STAGE.record(contents)
    assert record == to_single_stage_lockfile(theirs)
    assert STAGE.key(contents) == key_of(record) == _get_stage_hash(theirs)
    assert value_of(record) == _get_cache_hash(dict(record))


def test_a_record_tells_what_it_was_made_from(repository: Path) -> None:
    contents = {path: content_of(repository / path) for path in (*STAGE.inputs, *STAGE.files)}
    record = STAGE.record(contents)
    assert meaning_of(record) == {"command": STAGE.command, "settings": STAGE.settings}
    assert contents_of(record) | contents_of(record, "deps") == contents
    assert meaning_of({"cmd": "echo # {"}) == {}


@pytest.mark.parametrize(
    "change",
    [
        {"settings": {"scale": "smoke", "spec": {"tpp": 20.5, "tau": None, "name": "µ"}}},
        {"command": "collapse train b"},
        {"outputs": ("results/b.parquet", "results/c.json")},
        {"inputs": ("data/tokens.bin",)},
    ],
)
def test_a_key_covers_settings_command_inputs_and_outputs(repository: Path, change: dict[str, Any]) -> None:
    inputs = {path: content_of(repository / path) for path in STAGE.inputs}
    assert dataclasses.replace(STAGE, **change).key(inputs) != STAGE.key(inputs)


@pytest.mark.parametrize("change", [{"name": "other"}, {"title": "Other"}, {"rule": "other"}])
def test_names_are_no_part_of_a_key(repository: Path, change: dict[str, Any]) -> None:
    inputs = {path: content_of(repository / path) for path in STAGE.inputs}
    assert dataclasses.replace(STAGE, **change).key(inputs) == STAGE.key(inputs)


def test_an_input_counts_by_its_content(repository: Path) -> None:
    hashes = Hashes(repository)
    before = STAGE.key({path: hashes.content(path) for path in STAGE.inputs})
    (repository / "data/tokens.bin").write_bytes(b"other tokens")
    assert STAGE.key({path: hashes.content(path) for path in STAGE.inputs}) != before


def test_a_file_is_read_once_until_it_changes(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hashes, read = Hashes(repository), []
    monkeypatch.setattr(
        "scaling_collapse.identity.hashing.content_of", lambda path: (read.append(path), content_of(path))[1]
    )
    for _ in range(3):
        hashes.content("code.json")
    assert len(read) == 1
    (repository / "code.json").write_text("longer than before")
    assert hashes.content("code.json") == content_of(repository / "code.json")
    assert len(read) == 2
