"""Other people on this machine: commands run as a user of another number. Needs root, and skips without."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

LAB = 60100  # a group that nobody has
ALICE, BOB, GUEST = 60101, 60102, 60103


@dataclass(frozen=True)
class User:
    """Somebody with a number and a group; `umask` is theirs. `entry` is what lets them reach this Python."""

    uid: int
    gid: int
    home: Path
    entry: str
    umask: str = "022"

    def command(self, line: str) -> str:
        """Return the shell command that runs a shell command as this user."""
        inner = f"umask {self.umask}; export HOME={self.home} USER=u{self.uid} LOGNAME=u{self.uid}; {line}"
        change = f"setpriv --reuid={self.uid} --regid={self.gid} --clear-groups"
        outer = f"{self.entry}exec {change} bash -c {shlex.quote(inner)}"
        return f"unshare --mount --propagation private bash -c {shlex.quote(outer)}" if self.entry else outer

    def own(self, folder: Path) -> None:
        """Give a folder to the user."""
        for path in (folder, *folder.rglob("*")):
            os.chown(path, self.uid, self.gid, follow_symlinks=False)


@contextmanager
def lab() -> Iterator[tuple[Path, dict[str, User]]]:
    """A folder that everybody can enter, and the users alice and bob of one group, and a guest of none."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can be somebody else")
    folder = Path(tempfile.mkdtemp(prefix="lab-"))
    try:
        folder.chmod(0o755)
        entry = _entry(folder)
        users = {"alice": (ALICE, LAB, "022"), "bob": (BOB, LAB, "077"), "guest": (GUEST, GUEST, "022")}
        people = {}
        for name, (uid, gid, umask) in users.items():
            home = folder / "home" / name
            home.mkdir(parents=True)
            people[name] = User(uid, gid, home, entry, umask)
            people[name].own(home)
        yield folder, people
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _entry(folder: Path) -> str:
    """Return shell commands after which another user can run this Python. Skips the test where nothing helps.

    Where it lies in somebody's home, that home is covered, for that user's processes alone, by an empty one that holds
    Python at its old place.
    """
    closed = [path for path in (Path(sys.base_prefix), Path(sys.prefix)) if _closed(path)]
    lines = []
    for number, path in enumerate(closed):
        (folder / f"python{number}").mkdir()
        lines.append(f"mount --bind {path} {folder}/python{number}; ")
    lines += [f"mount -t tmpfs -o mode=755 none {home}; " for home in {_closed(path) for path in closed}]
    lines += [f"mkdir -p {p}; mount --bind {folder}/python{n} {p}; " for n, p in enumerate(closed)]
    entry = "".join(lines)
    probe = User(GUEST, GUEST, folder, entry).command(f"cd {folder} && {sys.executable} -c 'import snakemake'")
    if subprocess.run(["bash", "-c", probe], capture_output=True).returncode:
        pytest.skip("another user cannot run this Python")
    return entry


def _closed(path: Path) -> Path | None:
    """Return the outermost folder on the way to a path that others may not enter."""
    return next((part for part in (*reversed(path.parents), path) if not part.stat().st_mode & 0o001), None)
