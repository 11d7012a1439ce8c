"""A repository's root with synthetic curves in the place of trained ones."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scaling_collapse.config.scale import Analysis
from scaling_collapse.curves.table import write_table
from scaling_collapse.paths import Paths
from scaling_collapse.tables.back_test import back_test_table
from scaling_collapse.tables.groups import BACK_TEST
from tests.support.synthetic_curves import group, write_scale

REPOSITORY = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def synthetic_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with config/, data/published/, synthetic curves of the scales cpu and smoke, and tables that figures read.

    Tests do not change it.
    """
    root = tmp_path_factory.mktemp("repository")
    for folder in ("config", "data/published"):
        shutil.copytree(REPOSITORY / folder, root / folder)
    for scale in ("cpu", "smoke"):
        write_scale(Paths(scale, root).results)
    curves = {name: group(name) for name in BACK_TEST}
    write_table(back_test_table(curves, Analysis(), cuts=(0.2, 0.5)), Paths("cpu", root).table("back_test"))
    return root
