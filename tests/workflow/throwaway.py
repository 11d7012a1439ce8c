"""A copy of the repository in which the real pipeline runs, as a newcomer's clone would."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.house.files import ROOT, tracked_files

BIN = Path(sys.executable).parent
OF_MAKE = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS"}  # a `make` in the checkout is not part of the `make test` around it


@dataclass(frozen=True)
class Repository:
    """A throwaway checkout; its own sources come before the installed ones."""

    root: Path

    def run(self, command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command line as a user would type it, in the repository's root."""
        variables = {
            **{name: value for name, value in os.environ.items() if name not in OF_MAKE},
            "PATH": os.pathsep.join([str(BIN), os.environ["PATH"]]),
            "PYTHONPATH": str(self.root / "src"),
            "XDG_CACHE_HOME": str(self.root / ".work" / "cache"),  # two pipelines side by side share no cache
            "COLUMNS": "200",
            "NO_COLOR": "1",
            **environment,
        }
        return subprocess.run(
            ["bash", "-c", command], cwd=self.root, env=variables, capture_output=True, text=True, timeout=840
        )

    def snakemake(self, arguments: str, config: str = "") -> subprocess.CompletedProcess[str]:
        """Run snakemake at smoke scale on two cores."""
        return self.run(f"snakemake --cores 2 {arguments} --config scale=smoke {config}")

    def edit(self, name: str, old: str, new: str) -> None:
        """Change a file in one place."""
        path = self.root / name
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{name} has {old!r} {text.count(old)} times"
        path.write_text(text.replace(old, new), encoding="utf-8")


def copy_repository(target: Path) -> Repository:
    """Copy what git knows, and new files that it does not ignore."""
    for path in tracked_files():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, target / path)
    return Repository(target)


def stages_of(output: str) -> set[str]:
    """What a run, or a dry run, says that it starts: `[ 3/21] Train 4k-tpp20-base-s0`."""
    lines = (line.partition("] ")[2] for line in output.splitlines() if line.startswith("["))
    return {line for line in lines if line and ": " not in line and not line.endswith(" again")}
