"""Ruff, snakefmt and mypy, so that `make test` is all that anybody needs to run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.files import ROOT

BIN = Path(sys.executable).parent
CHECKS = {
    "ruff check": ["ruff", "check", "."],
    "ruff format": ["ruff", "format", "--check", "."],
    "snakefmt": ["snakefmt", "--check", "Snakefile", "workflow"],
    "mypy": ["mypy"],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKS)
def test_style(name: str) -> None:
    program, *arguments = CHECKS[name]
    done = subprocess.run([BIN / program, *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, f"`{' '.join(CHECKS[name])}` says:\n{done.stdout}{done.stderr}"
