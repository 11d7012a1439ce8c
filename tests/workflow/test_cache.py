"""What the cache promises, each line in throwaway clones with the real pipeline at smoke scale."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from scaling_collapse.pipeline.lock import sole_pipeline
from tests.workflow.clones import ALL, COLLECT, CORPUS, DRAW, FIGURE, PICTURE, RUNS, TRAIN, Clone, duplicate, fresh
from tests.workflow.throwaway import stages_of

SCALE = "config/scale/smoke.yaml"
SWEEP = "{name: celerity_80tpp, source: Fig 6 middle, sizes: [4k, 8k], tpp: 80, batch: 64}"
OTHER_SWEEP = SWEEP.replace("batch: 64", "batch: 32")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> tuple[Clone, Path]:
    """A clone in which the figure was made from nothing, and the remote that it was pushed to. Left as they are."""
    root = tmp_path_factory.mktemp("lab")
    (root / "remote").mkdir()
    clone = fresh(root / "a", root / "remote")
    done = clone.make()
    assert done.code == 0, done.said
    assert done.ran == ALL
    assert "Pushed to the remote: 5 stages" in done.said
    return clone, root / "remote"


@pytest.fixture
def remote(lab: tuple[Clone, Path], tmp_path: Path) -> Path:
    """A remote that has it all, to be damaged at will."""
    shutil.copytree(lab[1], tmp_path / "remote")
    return tmp_path / "remote"


@pytest.fixture
def a(lab: tuple[Clone, Path], tmp_path: Path, remote: Path) -> Clone:
    """A clone that has made it all, to be changed at will."""
    return duplicate(lab[0], tmp_path / "a", remote)


@pytest.fixture
def b(tmp_path: Path, remote: Path) -> Clone:
    """A fresh clone with the same remote."""
    return fresh(tmp_path / "b", remote)


def object_of(folder: Path, clone: Clone, path: str) -> Path:
    """Where the cache at `folder` keeps an output."""
    lock = yaml.safe_load((clone.root / "dvc.lock").read_text())
    (md5,) = {o["md5"] for stage in lock["stages"].values() for o in stage["outs"] if o["path"] == path}
    return folder / "files" / "md5" / md5[:2] / md5[2:]


def damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.chmod(0o644)
    path.write_bytes(data)


def test_nothing_to_do(a: Clone) -> None:
    done = a.make()
    assert (done.code, done.finished, done.restored) == (0, set(), 0)
    assert "Nothing to be done" in done.said


def test_deleted_results_come_back_and_only_those_that_were_asked_for(a: Clone) -> None:
    before = (a.root / PICTURE).read_bytes()
    a.remove("results", "logs")
    done = a.make()
    assert (done.code, done.ran, done.restored) == (0, set(), 1)
    assert (a.root / PICTURE).read_bytes() == before
    assert a.files() == {PICTURE.replace(".png", suffix) for suffix in (".png", ".pdf", ".parquet")}
    done = a.make(f"results/smoke/runs/{RUNS[0]}/run.json")
    assert (done.ran, done.restored) == (set(), 1)
    assert not (a.root / "results/smoke/corpus").exists(), "a run is restored without its corpus"


def test_one_parameter_and_back(a: Clone) -> None:
    a.edit(SCALE, SWEEP, OTHER_SWEEP)
    done = a.make()
    assert done.code == 0, done.said
    assert {stage.split(" ")[0] for stage in done.ran} == {"Train", "Collect", "Draw"}
    assert CORPUS not in done.ran
    a.edit(SCALE, OTHER_SWEEP, SWEEP)
    done = a.make()
    assert (done.code, done.ran) == (0, set()), done.said
    assert done.restored >= 1


def test_a_parameter_of_another_group_or_scale_changes_nothing(a: Clone) -> None:
    a.edit(SCALE, "tokens: 165888", "tokens: 166912")
    a.edit("config/scale/cpu.yaml", "\nname: cpu\n", "\nname: cpu\n# changed\n")
    done = a.make()
    assert (done.code, done.finished, done.restored) == (0, set(), 0)


def test_a_comment_a_docstring_and_a_new_figure_change_nothing(a: Clone) -> None:
    for module in ("model/decoder.py", "curves/smooth.py", f"figures/{FIGURE}.py", "corpus/build.py"):
        path = a.root / "src/scaling_collapse" / module
        path.write_text("# why\n\n" + path.read_text())
    (a.root / "src/scaling_collapse/figures/fig_99_new.py").write_text("X = 1\n")
    done = a.make()
    assert (done.code, done.finished, done.restored) == (0, set(), 0), done.said


def test_one_figures_module_redraws_that_figure_alone(a: Clone) -> None:
    with (a.root / f"src/scaling_collapse/figures/{FIGURE}.py").open("a") as module:
        module.write("\nCONSTANT = 1\n")
    done = a.make()
    assert (done.code, done.ran) == (0, {DRAW})


def test_a_constant_of_the_model_retrains_and_the_corpus_stays(a: Clone) -> None:
    with (a.root / "src/scaling_collapse/model/decoder.py").open("a") as module:
        module.write("\nCONSTANT = 1\n")
    assert stages_of(a.make(options="-n").said) == {*TRAIN, COLLECT, DRAW}
    why = a.run(f"collapse why {FIGURE} --scale smoke")
    assert why.stdout.count("code scaling_collapse.model.decoder: ") == len(TRAIN)
    assert "would be restored" not in why.stdout


def test_a_fresh_clone_restores_the_figure_and_nothing_else(b: Clone, lab: tuple[Clone, Path]) -> None:
    done = b.make()
    assert (done.code, done.ran, done.restored) == (0, set(), 1), done.said
    assert (b.root / PICTURE).read_bytes() == (lab[0].root / PICTURE).read_bytes()
    assert b.files() == {PICTURE.replace(".png", suffix) for suffix in (".png", ".pdf", ".parquet")}
    assert "Nothing to be done" in b.make().said


def test_a_figure_restored_alone_is_not_believed_once_a_run_behind_it_changes(b: Clone) -> None:
    b.make()
    b.edit(SCALE, SWEEP, OTHER_SWEEP)
    stages = stages_of(b.make(options="-n").said)
    assert {stage.split(" ")[0] for stage in stages} == {"Train", "Collect", "Draw"}


def test_dvc_pull_in_a_fresh_clone_and_then_a_changed_parameter_is_not_stale(a: Clone, tmp_path: Path) -> None:
    git = "git -c user.name=a -c user.email=a@example.org"
    a.run(f"git init -q . && git add -A && {git} commit -qm all && git clone -q . {tmp_path}/c")
    c = Clone(tmp_path / "c").use(tmp_path / "remote")
    pulled = c.run(f"dvc pull -q {PICTURE}")
    assert pulled.returncode == 0, pulled.stderr
    assert c.files() == {PICTURE}
    done = c.make()
    assert (done.code, done.ran) == (0, set())
    c.edit(SCALE, "smoothing_steps: 5", "smoothing_steps: 7")
    done = c.make()
    assert (done.code, done.ran) == (0, {DRAW}), done.said


def test_two_clones_at_once_share_one_remote(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    clones = [fresh(tmp_path / name, tmp_path / "empty") for name in "xy"]
    command = f"snakemake --cores 1 {COLLECTED} --config scale=smoke"
    for process in [start(clone, command) for clone in clones]:
        said, _ = process.communicate(timeout=300)
        assert process.returncode == 0, said
    assert "0 damaged" in clones[0].run("collapse cache verify --remote").stdout.splitlines()[-1]
    z = fresh(tmp_path / "z", tmp_path / "empty")
    done = z.make(COLLECTED)
    assert (done.code, done.ran) == (0, set())


COLLECTED = "results/smoke/curves/celerity_80tpp.parquet"


def start(clone: Clone, command: str) -> subprocess.Popen[str]:
    """Start a command in a clone, in a process group of its own."""
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(clone.root / "src"),
        "XDG_CACHE_HOME": str(clone.root / ".work" / "cache"),
    }
    return subprocess.Popen(
        ["bash", "-c", f"exec {command}"],
        cwd=clone.root,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def wait_for(happened: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def kill(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def test_killed_while_training_it_goes_on_and_loses_no_finished_stage(tmp_path: Path, remote: Path) -> None:
    clone = fresh(tmp_path / "k", remote)
    clone.edit(SCALE, SWEEP, SWEEP.replace("batch: 64", "batch: 16"))  # four times the steps
    log = clone.root / ".work/checkpoints/smoke"
    process = start(clone, f"snakemake --cores 1 {COLLECTED} --config scale=smoke")
    wait_for(lambda: any(log.glob("*/metrics.log")))
    kill(process)
    second = clone.make(COLLECTED)
    assert second.code == 0, second.said
    assert "lock is cleared away" in second.said
    assert CORPUS not in second.ran, "it was restored from the remote before"
    assert "Nothing to be done" in clone.make(COLLECTED).said


def test_killed_while_saving_the_result_is_kept_and_the_cache_is_sound(tmp_path: Path) -> None:
    clone = fresh(tmp_path / "k")
    slow = "    def add_record(self, record: Record)"
    hang = "    def hang(self) -> None:\n        import time\n\n        time.sleep(600)\n\n"
    clone.edit("src/scaling_collapse/cache/local.py", slow, hang + slow)
    clone.edit(
        "src/scaling_collapse/cache/store.py", "key, value = self.local.add_record(record)\n", "self.local.hang()\n"
    )
    process = start(clone, "snakemake --cores 1 build_corpus --config scale=smoke")
    wait_for(lambda: len(list((clone.root / ".dvc/cache/files/md5").glob("??/*"))) >= 4)
    kill(process)
    assert not list((clone.root / ".dvc/cache").glob("runs/*/*/*"))
    clone.edit(
        "src/scaling_collapse/cache/store.py", "self.local.hang()\n", "key, value = self.local.add_record(record)\n"
    )
    done = clone.make("build_corpus")
    assert (done.code, done.ran) == (0, set()), "the corpus was complete, and its note says so"
    assert "0 damaged" in clone.run("collapse cache verify").stdout
    assert clone.run("collapse corpus verify --scale smoke").returncode == 0


@pytest.mark.parametrize("where", ["here", "remote"])
def test_a_damaged_object_is_dropped_named_and_replaced(a: Clone, remote: Path, where: str) -> None:
    before = (a.root / PICTURE).read_bytes()
    bad = object_of(a.root / ".dvc/cache" if where == "here" else remote, a, PICTURE)
    damage(bad)
    a.remove("results/smoke/figures", *([] if where == "here" else [".dvc/cache"]))
    done = a.make()
    assert done.code == 0, done.said
    assert bad.name in done.said
    assert done.ran == (set() if where == "here" else {DRAW}), (
        "the remote replaces ours; nothing but a rerun replaces its"
    )
    assert (a.root / PICTURE).exists()
    assert where == "remote" or (a.root / PICTURE).read_bytes() == before
    assert "0 damaged" in a.run("collapse cache verify --remote").stdout.splitlines()[-1]


def test_a_hostile_record_is_named_and_writes_nothing(b: Clone, remote: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    for path in remote.glob("runs/*/*/*"):
        path.chmod(0o644)
        path.write_text(path.read_text().replace("results/smoke/figures/", f"{outside}/"))
    done = b.make()
    assert done.code == 0, done.said
    assert DRAW in done.ran
    assert "another key" in done.said
    assert not outside.exists()


def test_an_unreachable_remote_is_told_once_and_the_run_succeeds(a: Clone) -> None:
    a.use("ssh://127.0.0.1:9/nowhere")
    a.edit(SCALE, "smoothing_steps: 5", "smoothing_steps: 7")
    done = a.make()
    assert (done.code, done.ran) == (0, {DRAW}), done.said
    assert done.said.count("ssh://127.0.0.1:9/nowhere") == 1


def test_without_a_remote_the_clones_own_cache_serves(a: Clone) -> None:
    a.remove(".dvc/config.local", "results/smoke/figures")
    done = a.make()
    assert (done.code, done.ran, done.restored) == (0, set(), 1)
    assert "warning" not in done.said.lower()


def test_without_dvc_the_pipeline_works_and_still_tells_what_is_stale(a: Clone) -> None:
    a.remove(".dvc")
    done = a.make()
    assert (done.code, done.finished) == (0, set())
    assert "stages are not cached" in done.said
    a.edit(SCALE, "smoothing_steps: 5", "smoothing_steps: 7")
    assert a.make().ran == {DRAW}


def test_modes(a: Clone, b: Clone, remote: Path) -> None:
    done = b.make(config="cache=local", target="build_corpus")
    assert done.ran == {CORPUS}, "the remote was not asked"
    a.edit(SCALE, "smoothing_steps: 5", "smoothing_steps: 9")
    before = sorted(remote.rglob("*"))
    assert a.make(config="cache=read").ran == {DRAW}
    assert sorted(remote.rglob("*")) == before, "nothing was pushed"
    a.remove("results/smoke/figures")
    assert a.make(config="cache=off").ran == {DRAW}
    wrong = a.make(config="cache=offf")
    assert wrong.code != 0
    assert "did you mean" in wrong.said


def test_a_forced_stage_really_runs(a: Clone) -> None:
    assert a.make(COLLECTED, "-f").ran == {COLLECT}


def test_a_second_pipeline_in_one_clone_is_refused_in_one_line(a: Clone) -> None:
    with sole_pipeline(a.root / ".work/pipeline.lock"):
        done = a.make()
    assert done.code != 0
    assert "running the pipeline in this clone. Fix:" in done.said
    assert "Traceback" not in done.said


def test_plan_and_why_tell_beforehand_what_a_run_does(a: Clone, b: Clone) -> None:
    def cached(clone: Clone, target: str = FIGURE) -> set[str]:
        rows = json.loads(clone.run(f"collapse plan {target} --scale smoke --json").stdout)
        assert {row["run_id"] for row in rows} == set(RUNS) or target != FIGURE
        return {row["cached"] for row in rows}

    assert cached(a) == {"local"}
    assert cached(b) == {"remote"}
    assert cached(fresh(b.root.parent / "c")) == {"unknown"}
    a.edit(SCALE, SWEEP, OTHER_SWEEP)
    rows = json.loads(a.run(f"collapse plan {FIGURE} --scale smoke --json").stdout)
    assert {row["cached"] for row in rows} == {"run"}
    a.edit(SCALE, OTHER_SWEEP, SWEEP)
    a.edit(SCALE, "smoothing_steps: 5", "smoothing_steps: 7")
    with (a.root / f"src/scaling_collapse/figures/{FIGURE}.py").open("a") as module:
        module.write("\nCONSTANT = 1\n")
    said = a.run(f"collapse why {FIGURE} --scale smoke").stdout
    assert "setting settings.analysis.smoothing_steps: 5 -> 7" in said
    assert f"code scaling_collapse.figures.{FIGURE}: " in said
    assert "must run" in said


def test_status_pull_push_and_gc(a: Clone, b: Clone, remote: Path) -> None:
    said = b.run(f"collapse cache pull {FIGURE} --scale smoke")
    assert said.returncode == 0, said.stderr
    assert PICTURE in b.files()
    missing = b.run("collapse cache pull headline --scale smoke")
    assert missing.returncode == 2
    assert "not cached" in missing.stderr
    status = b.run("collapse cache status --scale smoke").stdout
    assert str(remote) in status
    shutil.rmtree(remote)
    remote.mkdir()
    pushed = a.run("collapse cache push")
    assert (pushed.returncode, pushed.stdout.splitlines()[-1]) == (0, "pushed: 5 stages"), pushed.stderr
    a.edit(SCALE, "smoothing_steps: 5", "smoothing_steps: 7")
    a.make()
    assert "1 records" in a.run("collapse cache gc --scale smoke --yes").stdout
    assert "Nothing to be done" in a.make().said


OWN_RULES = """

rule own_folder:
    output:
        directory("results/own"),
    shell:
        "mkdir -p {output} && date +%N > {output}/stamp"


rule own_text:
    input:
        "results/own",
    output:
        "results/own.txt",
    shell:
        "cat {input}/stamp > {output}"


rule own_copy:
    input:
        "data/own.txt",
    output:
        "results/copy.txt",
    shell:
        "cp {input} {output}"
"""


def test_rules_of_ones_own_are_cached_and_those_with_a_directory_just_run(tmp_path: Path) -> None:
    clone = fresh(tmp_path / "own")
    with (clone.root / "Snakefile").open("a") as snakefile:
        snakefile.write(OWN_RULES)
    (clone.root / "data/own.txt").write_text("one")
    done = clone.make("results/own.txt results/copy.txt")
    assert (done.code, done.ran) == (0, {"own_folder", "own_text", "own_copy"}), done.said
    assert "Nothing to be done" in clone.make("results/own.txt results/copy.txt").said
    clone.remove("results/own", "results/own.txt", "results/copy.txt")
    done = clone.make("results/own.txt results/copy.txt")
    assert (done.code, done.ran) == (0, {"own_folder", "own_text"}), done.said
    (clone.root / "data/own.txt").write_text("two")
    assert clone.make("results/own.txt results/copy.txt").ran == {"own_copy"}
    assert (clone.root / "results/copy.txt").read_text() == "two"
