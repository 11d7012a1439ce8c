from __future__ import annotations

from pathlib import Path

import pytest

from scaling_collapse.config.load import load_scale, scale_names
from scaling_collapse.config.yaml_file import read_yaml, spell
from tests.unit.config.support import small, write

ROOT = Path(__file__).parents[3]


def test_reads_a_scale_by_name_and_by_file(tmp_path: Path) -> None:
    path = write(tmp_path, small())
    assert load_scale("small", tmp_path) == load_scale(path) == load_scale(str(path))
    assert scale_names(tmp_path) == ["small"]


def test_one_value_is_a_list_of_one(tmp_path: Path) -> None:
    scale = load_scale(write(tmp_path, small()))
    assert scale.groups[0].tpp == (20.0,)
    assert scale.groups[2].seeds == (0, 1)


@pytest.mark.parametrize(
    ("text", "value"), [("1e-3", 1e-3), ("1E9", 1e9), ("-2.5e+2", -250.0), ("1.5", 1.5), ("7", 7), (".5e1", 5.0)]
)
def test_exponents_without_a_point_are_numbers(tmp_path: Path, text: str, value: float) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(f"x: {text}\n")
    assert read_yaml(path) == {"x": value}
    assert type(read_yaml(path)["x"]) is type(value)


@pytest.mark.parametrize("text", ["1e", "e5", "x1e5", "1e-3x", "'1e-3'"])
def test_other_text_stays_text(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(f"x: {text}\n")
    assert read_yaml(path) == {"x": text.strip("'")}


def test_spells_keys() -> None:
    assert spell(("groups", 3, "cases", 0, "tau")) == "groups[3].cases[0].tau"
    assert spell(()) == ""


@pytest.mark.parametrize("name", ["cpu", "paper", "smoke"])
def test_scales_of_the_project_load(name: str) -> None:
    scale = load_scale(name, ROOT)
    assert scale.name == name
    assert scale.claims is (name != "smoke")


def test_scales_share_their_group_names() -> None:
    groups = {name: [group.name for group in load_scale(name, ROOT).groups] for name in ("cpu", "paper", "smoke")}
    assert set(groups["smoke"]) <= set(groups["paper"])
    assert set(groups["cpu"]) <= set(groups["paper"])
