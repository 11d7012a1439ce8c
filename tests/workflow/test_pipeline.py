"""The real pipeline at smoke scale: everything is made once, and only what changed is made again.

All tests that use `finished` are in this file, since `make test` gives each file to one worker.
"""

from __future__ import annotations

import json
import shutil

import pytest

from scaling_collapse.stages.study import RUN_FILES, Study, read_study
from scaling_collapse.tables.registry import TABLES
from tests.docs.pages import BY_WAY, Command
from tests.workflow.throwaway import Repository, stages_of

pytestmark = pytest.mark.slow

LARGE_LR = "grid: {peak_lr: [0.005, 0.01, 0.02]}"


@pytest.fixture
def study(finished: Repository) -> Study:
    return read_study("smoke", finished.root)


def test_every_output_is_there(finished: Repository, study: Study) -> None:
    expected = study.corpus_files() + study.run_files(study.runs, RUN_FILES) + study.group_curves(study.groups)
    expected += [picture for name in study.figures for picture in study.pictures(name)]
    expected += [str(study.paths.table(name)) for name in TABLES]
    expected += [str(study.paths.curves), str(study.paths.surrogate)]
    missing = [name for name in expected if not (finished.root / name).stat().st_size]
    unused = {name for name in missing if "/curves/" in name}  # groups that no figure reads
    assert set(missing) == unused


def test_progress_says_stage_n_of_m_and_each_run_speaks_for_itself(finished: Repository, study: Study) -> None:
    log = (finished.root / "first_run.log").read_text(encoding="utf-8")
    total = next(line for line in log.splitlines() if " stages: " in line).split()[0]
    assert f"{total} of {total} stages done" in log
    for run_id in study.runs:
        assert f"collapse train {run_id} --scale smoke" in log
        assert (finished.root / study.paths.log(f"train/{run_id}")).read_text(encoding="utf-8").count(run_id) >= 2
    assert "Spread of the normalised loss curves" in log


def test_the_longest_training_starts_first(finished: Repository, study: Study) -> None:
    log = (finished.root / "first_run.log").read_text(encoding="utf-8")
    order = [line.partition("] Train ")[2] for line in log.splitlines() if "] Train " in line and ": " not in line]
    flops = [study.runs[run_id].flops for run_id in order]
    assert len(order) == len(study.runs)
    waiting = sorted(flops, reverse=True)
    for started in flops:
        assert started in waiting[:2], "on two cores two start at once, and either may be told first"
        waiting.remove(started)


def test_a_second_run_has_nothing_to_do(finished: Repository) -> None:
    done = finished.snakemake("all")
    assert done.returncode == 0
    assert "Nothing to be done" in done.stderr


@pytest.mark.parametrize("command", BY_WAY["run"], ids=str)
def test_documented_command(finished: Repository, command: Command) -> None:
    done = finished.run(command.line)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("old", "new", "trained"),
    [
        ("description: Tiny models", "description: Small models", 0),
        ("grid: {batch: [16, 32, 64]}}\n  - {name: tau_by_lr", "grid: {batch: [16, 32, 96]}}\n  - {name: tau_by_lr", 1),
        ("validation: {points: 20, sequences: 16}", "validation: {points: 20, sequences: 24}", None),
        ("analysis: {smoothing_steps: 5}", "analysis: {smoothing_steps: 7}", 0),
    ],
    ids=["words", "one run", "every run", "analysis"],
)
def test_a_changed_setting_retrains_what_it_touches(
    finished: Repository, study: Study, old: str, new: str, trained: int | None
) -> None:
    scale = str(study.paths.scale_file.relative_to(finished.root))
    finished.edit(scale, old, new)
    try:
        stages = stages_of(finished.snakemake("-n all").stderr)
    finally:
        finished.edit(scale, new, old)
    runs = {stage for stage in stages if stage.startswith("Train ")}
    assert len(runs) == (len(study.runs) if trained is None else trained)
    assert "Build the corpus" not in stages
    if "smoothing" in old:
        assert {"Draw headline", "Compute the table headline"} <= stages
    elif not trained and trained is not None:
        assert stages == set()


def test_a_run_that_diverges_is_carried_on_with(finished: Repository, study: Study) -> None:
    scale = str(study.paths.scale_file.relative_to(finished.root))
    finished.edit(scale, LARGE_LR, LARGE_LR.replace("0.02", "1.0e+6"))
    try:
        done = finished.snakemake("all")
        changed = read_study("smoke", finished.root)
    finally:
        finished.edit(scale, LARGE_LR.replace("0.02", "1.0e+6"), LARGE_LR)
    assert done.returncode == 0, done.stderr[-3000:]
    (run_id,) = set(changed.runs) - set(study.runs)
    record = json.loads((changed.paths.run(run_id) / "run.json").read_text(encoding="utf-8"))
    assert record["status"] == "diverged"
    stages = stages_of(done.stderr)
    assert {stage for stage in stages if stage.startswith("Train ")} == {f"Train {run_id}"}
    assert "Draw fig_03_tau_controls_shape" in stages


def test_a_crash_of_one_run_loses_no_other(finished: Repository, study: Study) -> None:
    crashing, other = study.groups["celerity_20tpp"][:2]
    for run_id in (crashing, other):
        shutil.rmtree(study.paths.run(run_id))
        shutil.rmtree(study.paths.checkpoint(run_id), ignore_errors=True)
    targets = f"results/smoke/runs/{crashing}/run.json results/smoke/runs/{other}/run.json"
    obstacle = study.paths.checkpoint(crashing)
    obstacle.write_text("a file where a folder should be", encoding="utf-8")
    try:
        done = finished.snakemake(targets, config="cache=off")  # or they would just be restored
    finally:
        obstacle.unlink()
    assert done.returncode == 1
    assert f"Train {crashing}: FAILED" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert (study.paths.run(other) / "run.json").exists()
    assert not study.paths.run(crashing).exists() or not list(study.paths.run(crashing).iterdir())
    again = finished.snakemake(targets, config="cache=off")
    assert again.returncode == 0, again.stderr[-3000:]
    assert stages_of(again.stderr) == {f"Train {crashing}"}
