"""`make setup` on machines that lack something: one line that says what, and nothing made."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workflow.throwaway import Repository


def fake_python(folder: Path, name: str, too_old: bool) -> Path:
    """A Python that is too old, or that has no venv module."""
    path = folder / name
    answer = "1" if too_old else '"$(case $2 in *venv*) echo 1;; *) echo 0;; esac)"'
    path.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.10.4" && exit 0\nexit {answer}\n', encoding="utf-8"
    )
    path.chmod(0o755)
    return path


def fails(repository: Repository, python: str) -> str:
    done = repository.run(f"make setup PYTHON={python}")
    assert done.returncode == 2
    line, *rest = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert all(word.startswith("make: ") for word in rest), rest
    assert not (repository.root / ".venv").exists()
    return line


def test_no_python(checkout: Repository) -> None:
    assert "no no-such-python here" in fails(checkout, "no-such-python")


@pytest.mark.parametrize(
    ("too_old", "words"), [(True, "is Python 3.10.4, and 3.11 or later is needed"), (False, "has no venv module")]
)
def test_wrong_python(checkout: Repository, tmp_path: Path, too_old: bool, words: str) -> None:
    assert words in fails(checkout, str(fake_python(tmp_path, "python3", too_old)))


def test_reproduce_sets_up_then_makes_the_headline_and_shows_the_numbers(checkout: Repository) -> None:
    lines = checkout.run("make reproduce -n").stdout.splitlines()
    assert lines[-2].endswith("snakemake headline --no-hooks --config scale=cpu")
    assert lines[-1].endswith("collapse results --scale cpu --target headline")
    assert any("pip install --requirement requirements.lock" in line for line in lines)


def test_continuous_integration_runs_the_test_command(checkout: Repository) -> None:
    assert (checkout.root / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1] == "make test"
    assert "bash .ci/run" in (checkout.root / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
