"""Rooms of the package import one way, and what must start quickly imports nothing heavy."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import scaling_collapse

PACKAGE = Path(scaling_collapse.__file__).parent
# Left never imports right of it; rooms of equal rank do not import each other.
ORDER = [
    {"errors"},
    {"file_lock", "paths", "whole_file"},
    {"identity"},
    {"config"},
    {"scaling"},
    {"corpus"},
    {"model"},
    {"optim"},
    {"plan"},
    {"train"},
    {"curves"},
    {"logs"},
    {"surrogate"},
    {"predict"},
    {"diagnose"},
    {"live"},
    {"figures", "tables"},
    {"report"},
    {"stages"},
    {"cache"},
    {"pipeline"},
    {"cli"},
]
RANK = {room: rank for rank, rooms in enumerate(ORDER) for room in rooms}
HEAVY = {"dvc", "matplotlib", "pandas", "scipy", "seaborn", "snakemake", "torch"}


def room_of(path: Path) -> str:
    """First part of a module's place in the package: config/load.py is in config, paths.py in paths."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(source: str) -> Iterator[tuple[int, str]]:
    """Line and room of each import of the package, at the top or inside a function, absolute or relative."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: a relative import hides its room"
            module = node.module or ""
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "scaling_collapse" else [module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "scaling_collapse" and len(parts) > 1 and not parts[1].startswith("__"):
                yield node.lineno, parts[1]


def wrong_imports(room: str, source: str) -> list[str]:
    """Imports of rooms that are not to the left of `room`."""
    return [
        f"line {line} imports {other}"
        for line, other in imported_rooms(source)
        if other != room and RANK[other] >= RANK[room]
    ]


MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or path.name != "__init__.py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_room_imports_only_rooms_to_its_left(path: Path) -> None:
    assert wrong_imports(room_of(path), path.read_text(encoding="utf-8")) == []


def test_every_room_has_a_place_in_the_order() -> None:
    assert {room_of(path) for path in MODULES} == set(RANK)


@pytest.mark.parametrize(
    "source",
    [
        "from scaling_collapse.cli.app import main",
        "def f():\n    import scaling_collapse.cli",
        "from scaling_collapse import cli",
        "if TYPE_CHECKING:\n    from scaling_collapse.stages.study import Study",
    ],
)
def test_a_wrong_import_is_found_wherever_it_hides(source: str) -> None:
    assert len(wrong_imports("config", source)) == 1


@pytest.mark.parametrize(
    "module",
    [
        "cli.app",
        "cli.cache",
        "cli.plan",
        "cli.why",
        "cli.fit",
        "cli.predict",
        "cli.advise",
        "cli.check",
        "cli.watch",
        "cli.train",
        "cli.figure",
        "cli.report",
        "cli.results",
        "plan.expand",
        "stages.study",
        "live.training_watch",
        "live.read_references",
    ],
)
def test_nothing_heavy_is_imported_before_it_is_needed(module: str) -> None:
    code = f"import sys, scaling_collapse.{module}; print(*sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
