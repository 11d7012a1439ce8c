"""Clones of the repository that share a cache, and what a run of the pipeline in one of them did."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.workflow.throwaway import Repository, copy_repository

FIGURE = "fig_21_validation_collapse"
RUNS = ("4k-tpp80-b64-s0", "8k-tpp80-b64-s0")
TRAIN = {f"Train {run}" for run in RUNS}
COLLECT, DRAW, CORPUS = "Collect the curves of celerity_80tpp", f"Draw {FIGURE}", "Build the corpus"
#: The figure with the shortest way to it: corpus, two runs, their curves, the picture.
ALL = {CORPUS, *TRAIN, COLLECT, DRAW}
PICTURE = f"results/smoke/figures/{FIGURE}.png"

DONE = re.compile(r"^\[ *\d+/\d+\] (.*): done in ", re.MULTILINE)
RESTORED = re.compile(r"^Cache: Restored from the cache: (?:(\d+) stages?|.*)[^:]*$", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """Exit code, what was said, the stages that ran or were restored one by one, and how many were restored at once."""

    code: int
    said: str

    @property
    def finished(self) -> set[str]:
        return set(DONE.findall(self.said))

    @property
    def ran(self) -> set[str]:
        """Stages that ran, and were not restored when their turn came."""
        singly = set(re.findall(r"^Cache: Restored from the cache: (\D.*)\.$", self.said, re.MULTILINE))
        return self.finished - singly

    @property
    def restored(self) -> int:
        return sum(int(number or 1) for number in RESTORED.findall(self.said))


class Clone(Repository):
    """A checkout with a remote in its own configuration."""

    def use(self, remote: str | Path) -> Clone:
        """Set the remote, as `collapse cache init --private` would."""
        text = f"[core]\n    remote = lab\n['remote \"lab\"']\n    url = {remote}\n"
        (self.root / ".dvc" / "config.local").write_text(text, encoding="utf-8")
        return self

    def make(self, target: str = FIGURE, options: str = "", config: str = "", **environment: str) -> Outcome:
        """Run snakemake at smoke scale on two cores."""
        command = f"snakemake --cores 2 {target} {options} --config scale=smoke {config}"
        return outcome(self.run(command, **environment))

    def remove(self, *names: str) -> None:
        for name in names:
            path = self.root / name
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() and not path.is_symlink() else path.unlink()

    def files(self, folder: str = "results") -> set[str]:
        return {str(p.relative_to(self.root)) for p in (self.root / folder).rglob("*") if p.is_file()}


def outcome(done: subprocess.CompletedProcess[str]) -> Outcome:
    return Outcome(done.returncode, done.stdout + done.stderr)


def fresh(target: Path, remote: str | Path | None = None) -> Clone:
    """A checkout in which nothing has run yet."""
    clone = Clone(copy_repository(target).root)
    return clone.use(remote) if remote else clone


def duplicate(clone: Clone, target: Path, remote: str | Path | None = None) -> Clone:
    """A copy of a clone with all that it has made, as if its owner went on in it, perhaps with another remote."""
    shutil.copytree(clone.root, target, symlinks=True)
    copy = Clone(target)
    return copy.use(remote) if remote else copy
