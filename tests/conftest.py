"""Fixtures that several rooms of tests share."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch: idle OpenMP threads spin on busy machines

import pytest

from tests.workflow.throwaway import Repository, copy_repository


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A copy of the repository in which nothing has run yet. Tests leave it as it is."""
    return copy_repository(tmp_path_factory.mktemp("checkout"))


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A copy of the repository in which everything of the smoke scale has been made, for real.

    Tests that use it carry the mark `xdist_group("pipeline")`, so that it is made once.
    """
    repository = copy_repository(tmp_path_factory.mktemp("finished"))
    done = repository.snakemake("all")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    (repository.root / "first_run.log").write_text(done.stdout + done.stderr, encoding="utf-8")
    return repository
