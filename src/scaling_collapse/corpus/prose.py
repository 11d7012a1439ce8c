"""Turn HTML or Markdown descriptions into plain paragraphs, and keep those that read as prose."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

_BLOCK_TAG = re.compile(
    r"</?(?:p|br|li|ul|ol|dl|dt|dd|div|note|important|caution|table|tr|td|th|h[1-6]|pre|section|fullname)\b[^<>]*>",
    re.I,
)
_ANY_TAG = re.compile(r"</?[A-Za-z][^<>]{0,300}>|<!--.*?-->", re.S)
_MARKDOWN_LINK = re.compile(r"\[([^\[\]]{1,200})\]\([^()\s]{1,500}\)")
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n\s*")
_LIST_ITEM = re.compile(r"\n[ \t]*(?:[*+\-•]|\d{1,2}[.)])[ \t]+")
_SPACE = re.compile(r"\s+")
_SENTENCE_END = re.compile(r"[.!?:;][\"')\]]*$")
_NOT_LETTER = re.compile(r"[^A-Za-z ]+")

PARAGRAPH_BREAK = "\n\n"
MIN_CHARACTERS = 40
MIN_WORDS = 6
MIN_LETTER_SHARE = 0.85  # letters and spaces; tables, code and identifiers have fewer
MAX_WORD = 40  # longer "words" are identifiers, keys or addresses


def is_prose(paragraph: str) -> bool:
    """Tell whether a paragraph looks like sentences: long enough, mostly letters, ending as sentences end."""
    if len(paragraph) < MIN_CHARACTERS or not _SENTENCE_END.search(paragraph):
        return False
    if len(_NOT_LETTER.sub("", paragraph)) < MIN_LETTER_SHARE * len(paragraph):
        return False
    words = paragraph.split(" ")
    return len(words) >= MIN_WORDS and max(map(len, words)) <= MAX_WORD


def strip_markup(text: str) -> str:
    """Replace block tags by paragraph breaks, drop other tags, link targets and code quotes, decode entities."""
    text = _ANY_TAG.sub("", _BLOCK_TAG.sub(PARAGRAPH_BREAK, text))
    return html.unescape(_MARKDOWN_LINK.sub(r"\1", text)).replace("`", "")


def paragraphs(text: str) -> list[str]:
    """Split text at blank lines and list items; each paragraph becomes one line with single spaces."""
    pieces = _BLANK_LINE.split(_LIST_ITEM.sub(PARAGRAPH_BREAK, text))
    return [line for piece in pieces if (line := _SPACE.sub(" ", piece).strip())]


def prose_paragraphs(descriptions: Iterable[str]) -> list[str]:
    """Clean many short descriptions at once and keep the paragraphs that are prose."""
    return [line for line in paragraphs(strip_markup(PARAGRAPH_BREAK.join(descriptions))) if is_prose(line)]
