"""Reading made-up logs in tests."""

from __future__ import annotations

from pathlib import Path

from scaling_collapse.logs.notes import Note
from scaling_collapse.logs.options import Options
from scaling_collapse.logs.read import Imported, read_logs

PUBLIC = Path(__file__).parents[4] / "shared" / "curves"  # real public curves, where this checkout has them
RAW = PUBLIC / "raw"


def read(tmp_path: Path, text: str | bytes, name: str = "some.log", **options: object) -> Imported:
    """Read one log."""
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_logs([path], Options(**options))  # type: ignore[arg-type]


def points(found: Imported, split: str = "train", run: str | None = None) -> list[tuple[int, float]]:
    """Return (step, loss) of the one curve of that split."""
    chosen = [c for c in found.curves if c.split == split and run in (None, c.run)]
    assert len(chosen) <= 1, [(c.run, c.split) for c in chosen]
    return [pair for c in chosen for pair in zip(c.step.tolist(), c.loss.tolist(), strict=True)]


def noted(found: Imported, what: str) -> int:
    """Return the count of the note of that kind."""
    return sum(note.count for note in found.notes if note.what == what)


def note(found: Imported, what: str) -> Note:
    """Return the one note of that kind."""
    (one,) = [note for note in found.notes if note.what == what]
    return one
