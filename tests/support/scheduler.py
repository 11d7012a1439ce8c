"""A batch system with this machine as its nodes, for Snakemake's cluster-generic executor."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SUBMIT = """#!/bin/bash
id=$$-$RANDOM
cp "${@: -1}" JOBS/$id
(
  env -i HOME="$HOME" PATH=/usr/local/bin:/usr/bin:/bin OMP_NUM_THREADS=1 bash JOBS/$id > JOBS/$id.log 2>&1
  echo $? > JOBS/$id.code
) > /dev/null 2>&1 &
echo $id
"""
STATUS = """#!/bin/bash
case $(cat JOBS/$1.code 2> /dev/null) in
  "") echo running ;;
  0) echo success ;;
  *) echo failed ;;
esac
"""


@dataclass(frozen=True)
class Scheduler:
    """Runs each job in the background, without the environment of the one who submits, and keeps its words."""

    folder: Path

    def __post_init__(self) -> None:
        for name, text in (("submit", SUBMIT), ("status", STATUS)):
            path = self.folder / name
            path.write_text(text.replace("JOBS", str(self.folder)))
            path.chmod(0o755)

    @property
    def options(self) -> str:
        """Options of snakemake that send each job to a node."""
        scripts = f"--cluster-generic-submit-cmd {self.folder}/submit --cluster-generic-status-cmd {self.folder}/status"
        return f"--executor cluster-generic {scripts} --jobs 2 --seconds-between-status-checks 1"

    def take(self) -> list[str]:
        """Return what the jobs since the last time said, one text for each."""
        logs = sorted(self.folder.glob("*.log"))
        said = [log.read_text() for log in logs]
        for log in logs:
            log.unlink()
        return said
