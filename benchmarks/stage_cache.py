"""What the cache of stages costs: seconds to save and push, to restore here, and to restore from a remote, per stage.

    python -m benchmarks.stage_cache [--stages 100] [--megabytes 1.4]

Stages are shaped like a training of the cpu scale: two tables, weights, run.json, a log and a benchmark file. The
remote is a folder. Everything is measured in one process, the first stage (which imports DVC) apart; ratios are to a
plain copy of the same files.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import typer

from scaling_collapse.identity.resolve import Graph
from scaling_collapse.identity.stage import Stage
from scaling_collapse.pipeline.session import Mode, Session


def stages(number: int) -> list[Stage]:
    """Stages that differ in a setting, as runs of a sweep do."""
    return [
        Stage(
            name=f"cpu-train_run-{n}",
            title=f"Train {n}",
            rule="train_run",
            command="collapse train",
            settings={"scale": "cpu", "spec": {"seed": n, **{f"setting_{k}": k / 7 for k in range(40)}}},
            inputs=("tokens.bin",),
            outputs=tuple(f"runs/{n}/{f}" for f in ("train.parquet", "validation.parquet", "weights.bin", "run.json")),
            logs=(f"logs/{n}.log", f"logs/{n}.tsv"),
        )
        for n in range(number)
    ]


def make(root: Path, stage: Stage, size: int) -> None:
    """Write what a training would."""
    for path in stage.files:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(os.urandom(size if path.endswith("weights.bin") else 20_000))


def clone(root: Path, remote: Path) -> Session:
    """A clone with nothing in it but the corpus."""
    (root / ".dvc").mkdir(parents=True)
    (root / ".dvc" / "config").write_text(f"[core]\n    remote = lab\n['remote \"lab\"']\n    url = {remote}\n")
    (root / "tokens.bin").write_bytes(b"tokens" * 100_000)
    return session(root)


def session(root: Path) -> Session:
    """The cache of a new process in a clone."""
    os.chdir(root)
    return Session(Path(), Mode.ON, warn=typer.echo, tell=lambda text: None)


def each(label: str, work: Callable[[Stage], object], made: list[Stage]) -> float:
    """Time each stage, and print the first and the median of the others [s]."""
    seconds = []
    for stage in made:
        begin = time.perf_counter()
        work(stage)
        seconds.append(time.perf_counter() - begin)
    median = statistics.median(seconds[1:])
    typer.echo(f"{label:<44} first {seconds[0]:.3f} s, then {median:.4f} s a stage (worst {max(seconds[1:]):.3f})")
    return median


def main(number: int = typer.Option(100, "--stages"), megabytes: float = 1.4) -> None:
    """Measure and print."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "remote").mkdir()
        made = stages(number)
        a = clone(folder / "a", folder / "remote")
        for stage in made:
            make(folder / "a", stage, int(megabytes * 1e6))

        def copy(stage: Stage) -> None:
            for path in stage.files:
                target = folder / "copy" / path
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)

        def save(stage: Stage) -> None:
            a._begun[stage.name] = a._contents(stage.inputs)
            a.keep(stage)
            assert a.pusher
            a.pusher.finish()

        plain = each("plain copy", copy, made)
        saved = each("saved, pushed", save, made)
        shutil.rmtree("runs")
        fetched = each("restored one by one from this machine", session(folder / "a").fetch, made)
        b = clone(folder / "b", folder / "remote")
        far = each("restored one by one from the remote", b.fetch, made)
        c = clone(folder / "c", folder / "remote")
        begin = time.perf_counter()
        c.restore(Graph(made), made)
        together = (time.perf_counter() - begin) / number
        typer.echo(f"{'restored together from the remote':<44} {together:.4f} s a stage")
        begin = time.perf_counter()
        session(folder / "c").resolve(Graph(made))
        typer.echo(f"{'nothing to do':<44} {(time.perf_counter() - begin) / number:.5f} s a stage")
        parts = (saved, fetched, far, together)
        typer.echo("ratios to a plain copy: " + ", ".join(f"{part / plain:.1f}" for part in parts))
        os.chdir(here)


if __name__ == "__main__":
    typer.run(main)
