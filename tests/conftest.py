"""Fixtures that several rooms of tests share."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch: idle OpenMP threads spin on busy machines

import pytest

from tests.workflow.throwaway import Repository, copy_repository


@pytest.fixture(autouse=True)
def ieee_floats() -> Iterator[None]:
    """Undo what training sets for its whole process: without denormal numbers hypothesis refuses to draw floats."""
    yield
    if torch := sys.modules.get("torch"):
        torch.set_flush_denormal(False)


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A copy of the repository in which nothing has run yet. Tests leave it as it is."""
    return copy_repository(tmp_path_factory.mktemp("checkout"))


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A copy of the repository in which everything of the smoke scale has been made, for real.

    The tests that use it are all in tests/workflow/test_pipeline.py, so that one worker makes it, once.
    """
    repository = copy_repository(tmp_path_factory.mktemp("finished"))
    done = repository.snakemake("all")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    (repository.root / "first_run.log").write_text(done.stdout + done.stderr, encoding="utf-8")
    return repository
