"""Throwaway clones with a cache and a folder as remote, and stages with files in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from scaling_collapse.cache.repository import open_repository
from scaling_collapse.cache.store import Store
from scaling_collapse.identity.hashing import content_of
from scaling_collapse.identity.stage import Record, Stage

STAGE = Stage("run-a", "Train a", "train", "train a", {"lr": 1.0}, ("tokens",), ("out/a.bin", "out/b.json"), ("a.log",))


@dataclass
class Clone:
    """A folder with a `.dvc`, its cache, and the warnings that it gave."""

    root: Path
    warnings: list[str] = field(default_factory=list)

    @property
    def store(self) -> Store:
        open_repository.cache_clear()
        return Store(self.root, self.warnings.append)

    def make(self, text: str = "weights") -> Record:
        """Write the files of STAGE and return their record."""
        (self.root / "tokens").write_text("tokens")
        for number, path in enumerate(STAGE.files):
            (self.root / path).parent.mkdir(exist_ok=True)
            (self.root / path).write_text(text * (number + 1))
        return STAGE.record({path: content_of(self.root / path) for path in (*STAGE.inputs, *STAGE.files)})

    def clean(self) -> None:
        for path in STAGE.files:
            (self.root / path).unlink(missing_ok=True)

    def texts(self) -> list[str | None]:
        """What lies in the places of STAGE's files."""
        return [(self.root / path).read_text() if (self.root / path).exists() else None for path in STAGE.files]


def clone(root: Path, remote: Path | None = None, more: str = "") -> Clone:
    (root / ".dvc").mkdir(parents=True)
    config = "[core]\n    analytics = false\n"
    if remote is not None:
        remote.mkdir(exist_ok=True)
        config += f"    remote = lab\n['remote \"lab\"']\n    url = {remote}\n"
    (root / ".dvc" / "config").write_text(config + more)
    return Clone(root)
