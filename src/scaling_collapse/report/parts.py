"""What pages are made of: a few kinds of blocks, sections of them, and the page. How they look is in templates/.

A new section is a module of sections/ with a function that returns a Section, and a line in `assemble.SECTIONS`. A new
kind of block is a class here and the macro of its name in templates/blocks.html. Words are plain text: the templates
escape them. Only pictures hold markup, which `svg.inline` makes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

if TYPE_CHECKING:
    from markupsafe import Markup

Tone = Literal["", "good", "bad", "unknown", "faint"]


@dataclass(frozen=True)
class Prose:
    """A paragraph."""

    kind: ClassVar[str] = "prose"
    text: str
    tone: Tone = ""


@dataclass(frozen=True)
class Fact:
    """A number (or word) with its name, and what it means for a reader who never heard of it."""

    name: str
    value: str
    meaning: str
    tone: Tone = ""


@dataclass(frozen=True)
class Facts:
    """Numbers, one below the other."""

    kind: ClassVar[str] = "facts"
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Column:
    """A column's heading, what it means, and whether it holds numbers, or long names or sentences."""

    heading: str
    meaning: str = ""
    number: bool = False
    long: bool = False


@dataclass(frozen=True)
class Cell:
    """A cell's text; `swatch` is the colour (#rrggbb) that the row has in pictures, `anchor` a place on the page."""

    text: str
    tone: Tone = ""
    swatch: str = ""
    anchor: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of cells, one for each column; what the columns mean stands below."""

    kind: ClassVar[str] = "table"
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Picture:
    """A picture with its caption; `key` are names with their colours (#rrggbb), `anchor` is its place on the page."""

    kind: ClassVar[str] = "picture"
    svg: Markup
    caption: str
    key: tuple[tuple[str, str], ...] = ()
    anchor: str = ""


@dataclass(frozen=True)
class Items:
    """A list: each item in bold what it is about, then a text, then what can be done (may be empty)."""

    kind: ClassVar[str] = "items"
    items: tuple[tuple[str, str, str], ...]


Block = Prose | Facts | Table | Picture | Items


@dataclass(frozen=True)
class Section:
    """A heading with its blocks; `anchor` is its place on the page."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Page:
    """A whole report: the headline with its tone, sentences below it, sections, and where it comes from."""

    title: str
    headline: str
    tone: Tone
    sentences: tuple[str, ...]
    sections: tuple[Section, ...]
    origin: tuple[str, ...]
