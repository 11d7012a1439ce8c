"""Every kind of block as HTML: whole, harmless, the same each time."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

from scaling_collapse.report import parts
from scaling_collapse.report.page import to_html
from scaling_collapse.report.parts import Cell, Column, Fact, Facts, Items, Page, Picture, Prose, Section, Table
from tests.house.files import ROOT
from tests.unit.report.support import look

EVIL = """<script>alert("1")</script><img src=x onerror='x()'>&amp;{{ 7*7 }}"""

#: Places of `page` where its words stand, the contents of the page among them.
PLACES = 23


def page(words: str = "words") -> Page:
    table = Table(
        (Column(words, words), Column("n", number=True)),
        ((Cell(words, "bad", "#440154", "there"), Cell("1")),),
    )
    picture = Picture(Markup("<svg viewBox='0 0 1 1'><path d='M 0 0'/></svg>"), words, ((words, "#fde725"),), "there")
    facts = Facts((Fact(words, words, words, "good"),))
    blocks = (Prose(words, "faint"), facts, table, picture, Items(((words, words, words), (words, words, ""))))
    return Page(words, words, "unknown", (words, words), (Section("one", words, blocks),), (words,))


def test_all_kinds_of_blocks_are_shown_with_their_words() -> None:
    kinds = {block.kind for section in page().sections for block in section.blocks}
    assert kinds == {kind.kind for kind in vars(parts).values() if isinstance(kind, type) and hasattr(kind, "kind")}
    found = look(to_html(page("plain words")))
    assert " ".join(found.words).count("plain words") == PLACES
    assert {"svg", "table", "figure", "ul", "dl"} <= found.tags


def test_words_are_text_whatever_they_are() -> None:
    html = to_html(page(EVIL))
    found = look(html)
    assert " ".join(found.words).count(EVIL) == PLACES
    assert "&lt;script&gt;" in html


def test_a_page_forbids_scripts_and_requests_should_it_hold_any() -> None:
    html = to_html(page())
    assert """content="default-src 'none'; style-src 'unsafe-inline'\"""" in html
    assert "http://" not in html
    assert "https://" not in html


def test_the_same_page_is_the_same_text() -> None:
    assert to_html(page()) == to_html(page())
    assert to_html(page()) != to_html(replace(page(), headline="another"))


def test_dark_light_and_print_have_their_rules() -> None:
    html = to_html(page())
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html


def test_an_unknown_kind_of_block_is_an_error_and_no_gap() -> None:
    class Strange:
        kind = "strange"

    broken = replace(page(), sections=(Section("one", "x", (Strange(),)),))  # type: ignore[arg-type]
    with pytest.raises(UndefinedError):
        to_html(broken)


@pytest.mark.slow
def test_templates_are_in_the_wheel(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    folder = ROOT / "src" / "scaling_collapse" / "report" / "templates"
    expected = {f"scaling_collapse/report/templates/{path.name}" for path in folder.iterdir()}
    assert len(expected) == 3
    assert expected <= set(zipfile.ZipFile(wheel).namelist())
