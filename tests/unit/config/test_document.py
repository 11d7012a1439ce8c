from __future__ import annotations

import difflib
import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from pydantic import BaseModel

from scaling_collapse.cli.config import check_documents
from scaling_collapse.config.document import blocks, documents, ordered_fields
from scaling_collapse.config.load import load_scale
from scaling_collapse.config.scale import Scale
from scaling_collapse.config.yaml_file import read_yaml
from scaling_collapse.errors import ConfigError
from scaling_collapse.plan.expand import expand
from tests.unit.config.support import small

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("path", documents(ROOT), ids=lambda path: path.name)
def test_generated_files_are_in_step_with_the_code(path: Path) -> None:
    there, wanted = path.read_text(encoding="utf-8"), documents(ROOT)[path]
    diff = "\n".join(difflib.unified_diff(there.splitlines(), wanted.splitlines(), "file", "code", lineterm=""))
    assert not diff, f"run `collapse config write`\n{diff}"


def test_drift_is_an_error_that_shows_the_line(tmp_path: Path) -> None:
    for path, text in documents(tmp_path).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("warmup_fraction: 0.1", "warmup_fraction: 0.2"), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"default\.yaml.*warmup_fraction: 0\.2.*collapse config write"):
        check_documents(tmp_path)


def test_default_file_is_a_scale_that_expands() -> None:
    runs = expand(load_scale(ROOT / "config" / "default.yaml"), ROOT)
    assert len(runs) == 1


def test_default_file_has_every_key_of_the_blocks_it_shows() -> None:
    data = yaml.safe_load(documents(ROOT)[ROOT / "config" / "default.yaml"])
    assert list(data) == [name for name, _ in ordered_fields(Scale)]
    group = Scale.model_fields["groups"].annotation.__args__[0]  # type: ignore[union-attr]
    assert list(data["groups"][0]) == [name for name, _ in ordered_fields(group)]


@pytest.mark.parametrize("block", blocks(Scale), ids=lambda block: block.__name__)
def test_every_key_is_described(block: type[BaseModel]) -> None:
    assert block.__doc__
    for name, field in block.model_fields.items():
        assert field.description or name == "kind", f"{block.__name__}.{name}"


@pytest.mark.parametrize("name", ["cpu", "paper", "smoke"])
def test_scales_of_the_project_satisfy_the_schema(name: str) -> None:
    schema = json.loads((ROOT / "config" / "schema.json").read_text())
    jsonschema.validate(read_yaml(ROOT / "config" / "scale" / f"{name}.yaml"), schema)


def test_schema_refuses_an_unknown_key() -> None:
    schema = json.loads((ROOT / "config" / "schema.json").read_text())
    jsonschema.validate(small(), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(small() | {"gruops": []}, schema)
