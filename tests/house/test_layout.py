"""Files stay small and have their place; nothing names a machine, a registry or a person's folder."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.house.files import ROOT, text_of, tracked_files

FILES = tracked_files()
CODE = [path for path in FILES if path.suffix == ".py" and path.parts[0] != "tests"]
LINES_OF_FILE, LINES_OF_FUNCTION, LINES_OF_SNAKEFILE = 260, 45, 60

# Written in pieces, so that this file does not name them either.
HOSTS = [
    "py" + "pi.org",
    "python" + "hosted.org",
    "deb" + "ian.org",
    "ubun" + "tu.com",
    "npm" + "js.",
    "ana" + "conda.org",
]
MACHINE_PATH = re.compile(r"(?<![\w.~$}/-])/(home|root|work|Users|mnt|media|scratch)/")


@pytest.mark.parametrize("path", CODE, ids=str)
def test_files_and_functions_are_short(path: Path) -> None:
    source = (ROOT / path).read_text(encoding="utf-8")
    assert len(source.splitlines()) <= LINES_OF_FILE
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    lengths = {node.name: (node.end_lineno or 0) - node.lineno + 1 for node in functions}
    assert {name: length for name, length in lengths.items() if length > LINES_OF_FUNCTION} == {}


def test_the_entry_of_the_pipeline_fits_a_screen() -> None:
    assert len((ROOT / "Snakefile").read_text(encoding="utf-8").splitlines()) <= LINES_OF_SNAKEFILE


def test_every_module_says_what_it_is() -> None:
    trees = {path: ast.parse((ROOT / path).read_text(encoding="utf-8")) for path in CODE}
    assert [str(path) for path, tree in trees.items() if tree.body and not ast.get_docstring(tree)] == []


def test_nothing_names_a_registry_or_a_machine() -> None:
    found = []
    for path in FILES:
        for number, line in enumerate((text_of(path) or "").splitlines(), 1):
            if any(host in line.lower() for host in HOSTS) or MACHINE_PATH.search(line):
                found.append(f"{path}:{number}: {line.strip()[:80]}")
    assert found == []


def test_the_search_for_machine_paths_finds_them() -> None:
    for line in ("cd /" + "home/someone/x", 'Path("/' + 'work/main")', "/" + "Users/me/data"):
        assert MACHINE_PATH.search(line), line
    for line in (".work/checkpoints", "results/work/x", "~/work/x", "$HOME/work/", "https://host/home/x"):
        assert not MACHINE_PATH.search(line), line


def test_everything_that_the_design_names_is_there() -> None:
    names = """Snakefile Makefile README.md LICENSE CITATION.cff CHANGELOG.md CONTRIBUTING.md pyproject.toml
        requirements.lock environment.yml mkdocs.yml .ci/run .pre-commit-config.yaml .github/workflows/ci.yml
        profiles/default/config.yaml config/README.md config/default.yaml config/schema.json config/figures.yaml
        config/scale/smoke.yaml config/scale/cpu.yaml config/scale/paper.yaml data/catalog.csv
        docs/quickstart.md docs/change-a-thing.md docs/architecture.md docs/deviations.md docs/lab-notebook.md"""
    assert [name for name in names.split() if Path(name) not in FILES] == []
