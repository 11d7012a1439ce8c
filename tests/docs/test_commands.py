"""Commands in README and docs work. Above each bash block stands how it is tested, as an HTML comment:

run         each line as it is, in a checkout where the smoke scale has been made
dry         without doing the work: `snakemake -n`, `make -n`, and the options of `collapse` against its help
skip: why   not at all
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.house.files import ROOT
from tests.workflow.throwaway import Repository

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
BY_WAY = {how: [c for c in COMMANDS if c.how == how] for how in ("run", "dry")}


def test_each_block_says_how_it_is_tested() -> None:
    unmarked = [c for c in COMMANDS if c.how not in ("run", "dry") and not re.match(r"skip: \w+", c.how or "")]
    assert [str(command) for command in unmarked] == []
    assert len(BY_WAY["dry"]) >= 10
    assert len(BY_WAY["run"]) >= 5


def test_readme_opens_with_the_two_commands() -> None:
    first = [command.line for command in COMMANDS if command.page == "README.md"][:2]
    assert first == ["make reproduce", "make test"]


@pytest.mark.parametrize("command", BY_WAY["dry"], ids=str)
def test_dry_command(checkout: Repository, command: Command) -> None:
    program, *arguments = shlex.split(command.line)
    if program == "collapse":
        words = [word for word in arguments if not word.startswith("-")][:1]
        text = checkout.run(f"collapse {' '.join(words)} --help")
        assert text.returncode == 0
        assert [option for option in arguments if option.startswith("--") and option not in text.stdout] == []
    else:
        assert program in ("make", "snakemake")
        done = checkout.run(f"{command.line} -n")
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.xdist_group("pipeline")
@pytest.mark.parametrize("command", BY_WAY["run"], ids=str)
def test_run_command(finished: Repository, command: Command) -> None:
    done = finished.run(command.line)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", page.read_text(encoding="utf-8"))
    waited_for = {"docs/images/headline.png"}  # drawn by `make reproduce`
    assert [link for link in links if not (page.parent / link).exists() and link not in waited_for] == []


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert [page.name for page in PAGES if page.parent.name == "docs" and page.name not in navigation] == []
