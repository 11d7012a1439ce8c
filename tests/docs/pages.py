"""The pages that people read, and the commands in them. Above each bash block stands how it is tested, as a comment:

run         each line as it is, in a checkout where the smoke scale has been made
dry         without doing the work: `snakemake -n`, `make -n`, and the options of `collapse` against its help
skip: why   not at all
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.house.files import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(
    r"(?:<!-- test: (?P<how>[^\n]*?) -->\n)?^```(?:bash|sh|shell|console)\n(?P<lines>.*?)^```", re.M | re.S
)


@dataclass(frozen=True)
class Command:
    """A line of a bash block, without its comment."""

    page: str
    how: str | None
    line: str

    def __str__(self) -> str:
        return f"{self.page}: {self.line}"


def commands(page: Path) -> list[Command]:
    """Command lines of a page."""
    return [
        Command(page.name, block["how"], line.partition(" #")[0].strip())
        for block in BLOCK.finditer(page.read_text(encoding="utf-8"))
        for line in block["lines"].splitlines()
        if line.strip() and not line.startswith("#")
    ]


COMMANDS = [command for page in PAGES for command in commands(page)]
BY_WAY = {how: [command for command in COMMANDS if command.how == how] for how in ("run", "dry")}
