"""Prose of RFC documents, as Debian's doc-rfc packages ship them."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable
from pathlib import Path

from scaling_collapse.corpus.debian import package_files
from scaling_collapse.corpus.deduplicate import deduplicate
from scaling_collapse.corpus.document import Document
from scaling_collapse.corpus.prose import PARAGRAPH_BREAK, is_prose, paragraphs
from scaling_collapse.errors import CorpusError

_MEMBER = re.compile(r"(?:^|/)rfc(\d+)\.txt(?:\.gz)?$")
# The end of a page: blank lines, a footer that ends in [Page n], a form feed, the next page's header and blank lines.
_PAGE_END = re.compile(r"(\S)[ \t]*\n\s*[^\n]*\[Page [\divxlc]+\][ \t]*\n[\s\f]*(?:[^\n]*\d{4}[ \t]*\n\s*)?")
_BULLET = re.compile(r"\n[ \t]+o[ \t]+")  # RFCs mark list items by the letter o
_SENTENCE_ENDS = ".!?:;)"
_DRAWING = re.compile(r"\. \.|\.{4}|-{3}|\+-|={3}|_{3}|\|")
_BOILERPLATE = re.compile(
    r"copyright|ietf trust|all rights reserved|distribution of this memo|status of this memo|rfc[- ]editor"
    r"|internet[- ]drafts? (?:is|are)|intellectual property|\"as[- ]is\"|bcp ?7[89]|key words \"must",
    re.I,
)
_WORD_BREAK = re.compile(r"(?<=[a-z])- (?=[a-z])")  # well-known, broken after the hyphen


def _join_pages(found: re.Match[str]) -> str:
    """A paragraph goes on over the page's end unless its last line ends a sentence."""
    return found.group(1) + (PARAGRAPH_BREAK if found.group(1) in _SENTENCE_ENDS else "\n")


def rfc_prose(text: str) -> list[str]:
    """Paragraphs of prose of an RFC: without page ends, drawings, tables and legal notices."""
    text = _PAGE_END.sub(_join_pages, text.replace("\r", "")).replace("\f", PARAGRAPH_BREAK)
    lines = (_WORD_BREAK.sub("-", line) for line in paragraphs(_BULLET.sub(PARAGRAPH_BREAK, text)))
    return [line for line in lines if is_prose(line) and not _DRAWING.search(line) and not _BOILERPLATE.search(line)]


def read_packages(packages: Iterable[Path]) -> list[Document]:
    """Read all RFCs of the packages, drop repeated paragraphs. Raises CorpusError for a package without RFCs."""
    texts: dict[int, str] = {}
    for package in packages:
        before = len(texts)
        for member, content in package_files(package):
            if found := _MEMBER.search(member):
                try:
                    raw = gzip.decompress(content) if member.endswith(".gz") else content
                except (OSError, EOFError, zlib.error) as error:
                    raise CorpusError(f"{package}:{member}", f"cannot unpack: {error}", "delete the package") from None
                # Old RFCs are Latin-1 in places; a few such letters do not matter.
                texts[int(found.group(1))] = "\n".join(rfc_prose(raw.decode("utf-8", errors="replace")))
        if len(texts) == before:
            raise CorpusError(str(package), "holds no RFC text", "check the package in data/catalog.csv")
    # Newest first: of repeated text, the newest document keeps it, as in its successors.
    return deduplicate([Document(f"rfc{number}", texts[number]) for number in sorted(texts, reverse=True)])
