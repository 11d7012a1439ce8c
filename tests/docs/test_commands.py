"""Commands in README and docs work; those marked `run` are in tests/workflow/test_pipeline.py."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.docs.pages import BY_WAY, COMMANDS, PAGES, Command
from tests.house.files import ROOT
from tests.workflow.throwaway import Repository


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
    program = shlex.split(command.line)[0]
    if program == "collapse":
        done = checkout.run(f"{command.line} --help")  # tells, before it looks at anything else, of unknown options
        assert done.returncode == 0, done.stderr
    else:
        assert program in ("make", "snakemake")
        done = checkout.run(f"{command.line} -n")
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert [page.name for page in PAGES if page.parent.name == "docs" and page.name not in navigation] == []
