"""YAML examples in the docs fit the cpu scale: each is put into a copy of it, which then expands to a plan."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from scaling_collapse.config.load import load_scale
from scaling_collapse.plan.expand import expand
from tests.house.files import ROOT

PAGE = ROOT / "docs" / "change-a-thing.md"
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
CPU = (ROOT / "config" / "scale" / "cpu.yaml").read_text(encoding="utf-8")


def merged(example: dict[str, Any]) -> dict[str, Any]:
    """The cpu scale with an example's sizes, groups (a known name is replaced) and corpus."""
    scale: dict[str, Any] = yaml.safe_load(CPU)
    family = scale["families"][0]
    family["sizes"] += example.get("sizes", [])
    groups = {group["name"]: group for group in [*scale["groups"], *example.get("groups", [])]}
    scale["groups"] = list(groups.values())
    if "corpus" in example:
        scale["corpus"] |= example["corpus"]
        family["architecture"]["vocabulary"] = scale["corpus"]["vocabulary"]
    return scale


@pytest.mark.parametrize("text", EXAMPLES, ids=lambda text: text.split(":")[0])
def test_example_expands(tmp_path: Path, text: str) -> None:
    example = yaml.safe_load(text)
    assert set(example) <= {"sizes", "groups", "corpus"}
    path = tmp_path / "cpu.yaml"
    path.write_text(yaml.safe_dump(merged(example)), encoding="utf-8")
    runs = expand(load_scale(path))
    for group in example.get("groups", []):
        assert any(group["name"] in run.groups for run in runs)
    for size in example.get("sizes", []):
        assert any(run.size == size["name"] for run in runs)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 3
