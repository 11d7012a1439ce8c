"""What Snakemake plans, before anything runs."""

from __future__ import annotations

import resource

import pytest

from scaling_collapse.config.figures import load_figures
from scaling_collapse.stages.study import read_study
from tests.house.files import ROOT
from tests.workflow.throwaway import Repository, stages_of

FIGURES = [figure.name for figure in load_figures(ROOT)]


@pytest.mark.parametrize("scale", ["smoke", "cpu"])
def test_everything_is_planned_in_a_fresh_clone(checkout: Repository, scale: str) -> None:
    study = read_study(scale, ROOT)
    done = checkout.run(f"snakemake -n --config scale={scale}")
    assert done.returncode == 0, done.stderr
    stages = stages_of(done.stderr)
    assert {f"Train {run_id}" for run_id in study.runs} < stages
    assert {f"Draw {name}" for name in study.figures} < stages
    assert {f"Collect the curves of {group}" for figure in study.figures.values() for group in figure.groups} < stages


def test_the_paper_scale_is_planned_in_ten_seconds(checkout: Repository) -> None:
    before = seconds_of_children()
    done = checkout.run("snakemake -n --quiet rules --config scale=paper")
    assert done.returncode == 0, done.stderr
    assert f"{len(read_study('paper', ROOT).runs)} train_run" in done.stderr
    assert seconds_of_children() - before < 10


def seconds_of_children() -> float:
    """Processor time of finished child processes [s]: the time they take on a quiet core."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def test_the_headline_needs_its_three_families_and_no_other_run(checkout: Repository) -> None:
    study = read_study("cpu", ROOT)
    groups = study.figures["headline"].groups
    assert groups == ("celerity_20tpp", "fixed_weight_decay", "equal_tokens")
    done = checkout.run("snakemake -n headline")
    stages = stages_of(done.stderr)
    trained = {stage.removeprefix("Train ") for stage in stages if stage.startswith("Train ")}
    assert trained == {run_id for group in groups for run_id in study.groups[group]}
    assert {"Compute the table headline", "Draw headline"} < stages


def test_entry_rule_module_and_caption_of_each_figure_are_the_same_set(checkout: Repository) -> None:
    listed = checkout.run("snakemake --list-rules").stdout.split()
    own = ("headline", "back_test")
    rules = {name for name in listed if name.startswith("fig_") or name in own}
    package = ROOT / "src" / "scaling_collapse" / "figures"
    modules = {path.stem for path in package.glob("*.py") if path.stem.startswith("fig_") or path.stem in own}
    captions = {path.stem for path in (ROOT / "workflow" / "report").glob("*.rst")}
    assert rules == modules == captions == set(FIGURES)


def test_the_rules_are_clean_but_for_conda(checkout: Repository) -> None:
    """Each rule runs the package of this checkout, so a conda environment a rule would only repeat environment.yml."""
    done = checkout.run("snakemake --lint")
    lints = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip().startswith("* ")]
    assert [lint for lint in lints if "Specify a conda environment" not in lint] == []
    assert lints, "the linter said nothing at all"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("snakemake -n --config scale=smok", "did you mean"),
        ("snakemake -n fig_99_none", "fig_99_none"),
    ],
)
def test_a_wrong_name_is_told_without_a_traceback(checkout: Repository, command: str, words: str) -> None:
    done = checkout.run(command)
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert words in said
    assert "Traceback" not in said
