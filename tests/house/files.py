"""The repository's own files, as git sees them."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def tracked_files() -> list[Path]:
    """Files under version control, and new ones that are not ignored, relative to the root."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout.split("\0")
    return [Path(name) for name in sorted(set(names)) if name and (ROOT / name).is_file()]


def text_of(path: Path) -> str | None:
    """Text of a file; None for pictures and other data."""
    try:
        return (ROOT / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None
