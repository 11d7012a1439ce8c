"""A repository's root with synthetic curves in the place of trained ones."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scaling_collapse.paths import Paths
from tests.support.synthetic_curves import write_scale

REPOSITORY = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def synthetic_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with config/, data/published/ and synthetic curves of the scales cpu and smoke. Tests do not change it."""
    root = tmp_path_factory.mktemp("repository")
    for folder in ("config", "data/published"):
        shutil.copytree(REPOSITORY / folder, root / folder)
    for scale in ("cpu", "smoke"):
        write_scale(Paths(scale, root).results)
    return root
