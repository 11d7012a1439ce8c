from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from scaling_collapse.cli.registry import COMMANDS
from scaling_collapse.identity.code import EXECUTION, HOLDERS, NOT_NUMERICAL, PACKAGE, RESOLVED, fingerprint
from scaling_collapse.identity.modules import SourceTree
from tests.house.files import ROOT

SOURCES = ROOT / "src"
FIGURES = ("headline", "fig_06_celerity_collapse", "fig_05_compression")
STAGES = ("corpus", "train", "curves", "table")


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    shutil.copytree(SOURCES / PACKAGE, tmp_path / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def edit(sources: Path, module: str, old: str, new: str) -> None:
    path = sources.joinpath(PACKAGE, *module.split(".")).with_suffix(".py")
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def changed(sources: Path) -> set[str]:
    """Commands whose fingerprint differs from that of the untouched sources."""
    commands = {name: (name, None) for name in STAGES}
    commands |= {name: ("figure", name) for name in FIGURES}
    return {
        name
        for name, (command, drawn) in commands.items()
        if fingerprint(command, drawn, sources).text() != fingerprint(command, drawn, SOURCES).text()
    }


def test_an_untouched_copy_has_the_same_fingerprint(sources: Path) -> None:
    assert changed(sources) == set()


def test_a_constant_of_the_optimiser_reaches_the_trainings(sources: Path) -> None:
    edit(sources, "optim.schedules", "from __future__ import annotations", "X = 1")
    assert changed(sources) >= {"train"}


def test_a_constant_of_the_smoother_reaches_pictures_and_numbers_and_no_training(sources: Path) -> None:
    edit(sources, "curves.smooth", "from __future__ import annotations", "X = 1")
    assert changed(sources) == {"curves", "table", *FIGURES}


def test_one_figure_is_one_figure(sources: Path) -> None:
    edit(sources, "figures.fig_06_celerity_collapse", "from __future__ import annotations", "X = 1")
    assert changed(sources) == {"fig_06_celerity_collapse"}


def test_a_new_figure_or_command_changes_nothing(sources: Path) -> None:
    shutil.copy(sources / PACKAGE / "figures/headline.py", sources / PACKAGE / "figures/fig_99_new.py")
    edit(sources, "cli.registry", '    "plan": Entry(', '    "new": Entry("new:new", "New."),\n    "plan": Entry(')
    assert changed(sources) == set()


def test_a_comment_and_a_docstring_change_nothing(sources: Path) -> None:
    edit(sources, "model.decoder", "from __future__ import annotations", "# why\nfrom __future__ import annotations")
    edit(sources, "train.loop", '"""', '"""Said differently. ')
    assert changed(sources) == set()


def test_how_a_sweep_is_written_down_retrains_nothing(sources: Path) -> None:
    """What comes out of it is in each run's specification, which is a parameter of its stage."""
    edit(sources, "plan.expand", "from __future__ import annotations", "X = 1")
    edit(sources, "config.group", "from __future__ import annotations", "X = 1")
    edit(sources, "train.progress", "from __future__ import annotations", "X = 1")
    assert changed(sources).isdisjoint({"train", "corpus"})


@pytest.mark.parametrize("module", ["config.model", "config.recipe", "plan.run"])
def test_classes_whose_properties_are_formulas_count(sources: Path, module: str) -> None:
    edit(sources, module, "from __future__ import annotations", "X = 1")
    assert "train" in changed(sources)


def test_packages_are_those_that_compute_with_their_versions() -> None:
    packages = fingerprint("train").packages
    assert {"torch", "numpy"} <= packages.keys()
    assert packages.keys().isdisjoint(NOT_NUMERICAL | {"matplotlib", "seaborn", "snakemake", "dvc"})
    assert {"matplotlib", "seaborn"} <= fingerprint("figure", "headline").packages.keys()
    assert "+" not in packages["torch"]


def test_another_version_of_a_package_is_another_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint("train").text()
    monkeypatch.setattr("scaling_collapse.identity.code._version", lambda package: "0.0")
    assert fingerprint("train").text() != before


def test_nothing_numerical_hides_behind_what_is_left_out() -> None:
    """What a command imports and its fingerprint lacks is settings, reading of settings, or execution."""
    tree = SourceTree(SOURCES)
    for command in STAGES:
        # what watches a training computes a lot, and tells it: nothing of it is in the outputs
        whole = tree.closure([f"{PACKAGE}.cli.{command}"], lambda module: module != f"{PACKAGE}.live.watched_progress")
        counted = set(json.loads(fingerprint(command).text())["modules"])
        left = whole.own - counted - EXECUTION
        rooms = {module.removeprefix(f"{PACKAGE}.").partition(".")[0] for module in left}
        # What expanding a plan computes (N, laws of batch and learning rate, tau) is in each run's specification.
        behind_the_plan = {"model", "optim"} if command == "train" else set()
        assert rooms <= RESOLVED.get(command, frozenset()) | behind_the_plan, (command, sorted(left))
        assert command != "train" or left.isdisjoint(HOLDERS)


def test_execution_modules_exist_and_do_not_compute() -> None:
    tree = SourceTree(SOURCES)
    for module in EXECUTION:
        assert tree.file(module), module
        assert tree.imports(module).foreign.isdisjoint({"torch", "numpy", "scipy", "pandas"}), module


def test_stages_are_commands() -> None:
    assert set(STAGES) | {"figure"} <= COMMANDS.keys()
