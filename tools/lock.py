"""Write requirements.lock and environment.yml from the packages that this Python runs with: `make lock`.

Both files carry the same pins, so that pip and conda users get the same versions; a test compares them.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK, CONDA = ROOT / "requirements.lock", ROOT / "environment.yml"

LOCK_HEADER = """\
# Every package that `make setup` installs, with its exact version. Made by `make lock`; do not edit.
# Made with Python {python}; from plain `pip freeze`, without this package itself and without build labels
# (torch 2.13.0+cpu and torch 2.13.0+cu130 are both torch 2.13.0), hence without hashes.
"""
CONDA_HEADER = """\
# The pins of requirements.lock for conda users. Made by `make lock`; do not edit.
#   conda env create -f environment.yml && conda activate scaling-collapse
name: scaling-collapse
channels:
  - conda-forge
dependencies:
  - python={python}
  - make
  - pip
  - pip:
      - --editable .
"""


def pins() -> list[str]:
    """`name==version` of each installed package but this one, without local build labels."""
    command = [sys.executable, "-m", "pip", "freeze", "--exclude-editable", "--exclude", "scaling-collapse"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    strays = [line for line in lines if "==" not in line]
    if strays:
        sys.exit(f"error: not from a package index: {', '.join(strays)}. Fix: make the lock in a fresh .venv")
    return [line.split("+")[0] for line in lines]


def main() -> None:
    """Write both files."""
    python = "{}.{}".format(*sys.version_info[:2])
    lines = pins()
    LOCK.write_text(LOCK_HEADER.format(python=python) + "\n".join(lines) + "\n", encoding="utf-8")
    CONDA.write_text(
        CONDA_HEADER.format(python=python) + "".join(f"      - {line}\n" for line in lines), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
