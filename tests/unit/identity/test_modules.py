from __future__ import annotations

from pathlib import Path

import pytest

from scaling_collapse.identity.modules import SourceTree

FILES = {
    "lab/__init__.py": "",
    "lab/train.py": "import numpy as np\nfrom lab.model import decoder\nfrom lab import laws\n",
    "lab/model/__init__.py": "",
    "lab/model/decoder.py": "def build():\n    from . import attention\n    import torch.nn\n",
    "lab/model/attention.py": "from ..laws import RATE\nimport json, os.path\n",
    "lab/laws.py": "RATE = 1\nif False:\n    import pandas\n",
    "lab/unused.py": "import scipy\n",
    "lab/circular.py": "import lab.circular\nfrom lab.train import np\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> SourceTree:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return SourceTree(tmp_path)


def test_everything_imported_is_found_also_inside_functions_and_relatively(tree: SourceTree) -> None:
    found = tree.closure(["lab.train"])
    assert found.own == {"lab", "lab.train", "lab.model", "lab.model.decoder", "lab.model.attention", "lab.laws"}
    assert found.foreign == {"numpy", "torch", "pandas"}


def test_a_circle_ends(tree: SourceTree) -> None:
    assert {"lab.circular", "lab.train"} <= tree.closure(["lab.circular"]).own


def test_what_is_not_followed_is_not_counted_nor_what_only_it_imports(tree: SourceTree) -> None:
    found = tree.closure(["lab.train"], follow=lambda module: module != "lab.model.decoder")
    assert found.own == {"lab", "lab.train", "lab.model", "lab.laws"}
    assert "torch" not in found.foreign


def test_an_edited_file_is_read_again(tree: SourceTree, tmp_path: Path) -> None:
    assert "lab.unused" not in tree.closure(["lab.train"]).own
    with (tmp_path / "lab" / "laws.py").open("a") as file:
        file.write("import lab.unused\n")
    assert "lab.unused" in tree.closure(["lab.train"]).own
