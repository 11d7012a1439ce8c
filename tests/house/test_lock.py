"""One set of versions: the lock, the conda environment, what the package asks for, and what runs these tests."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.house.files import ROOT

LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
CONDA: list[Any] = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PIN = re.compile(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.!]+)")


def pins(lines: list[str]) -> dict[str, str]:
    """Version by name; fails on a line that is no exact pin."""
    matches = [(line, PIN.fullmatch(line)) for line in lines]
    assert [line for line, match in matches if not match] == []
    return {canonicalize_name(match[1]): match[2] for _, match in matches if match}


LOCKED = pins([line for line in LOCK.splitlines() if not line.startswith("#")])


def test_conda_users_get_the_same_pins() -> None:
    (pip,) = (entry["pip"] for entry in CONDA if isinstance(entry, dict))
    assert pip[0] == "--editable ."
    assert pins(pip[1:]) == LOCKED


def test_python_is_the_same_everywhere() -> None:
    (conda,) = (entry.removeprefix("python=") for entry in CONDA if str(entry).startswith("python="))
    header = re.search(r"Python (\d+\.\d+)", LOCK)
    assert header
    assert header[1] == conda
    assert conda in SpecifierSet(PROJECT["requires-python"])


def test_the_lock_holds_what_the_package_asks_for() -> None:
    wanted = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]]
    for requirement in map(Requirement, wanted):
        assert LOCKED[canonicalize_name(requirement.name)] in requirement.specifier, requirement


def test_these_tests_run_with_the_locked_versions() -> None:
    def installed(name: str) -> str | None:
        try:
            return version(name).split("+")[0]
        except PackageNotFoundError:
            return None

    assert {name: installed(name) for name in LOCKED} == LOCKED
