"""The catalogue of fixed texts: which version of which package, under which licence, with which hash."""

from __future__ import annotations

import csv
import difflib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scaling_collapse.errors import CorpusError


class Entry(BaseModel):
    """A row of data/catalog.csv."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str = Field(pattern=r"^(pip_text|debian_rfc)$")
    package: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._\-]*$")
    version: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+~:\-]*$")
    filename: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+~\-]*\.(whl|deb)$")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    licence: str = Field(min_length=1)
    content: str


def _entry(path: Path, line: int, row: dict[str, str]) -> Entry:
    try:
        return Entry.model_validate(row)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "row"
        raise CorpusError(
            f"{path}:{line}", f"{key}: {first['msg']}", "compare the row with the others of the catalogue"
        ) from None


def read_catalog(path: Path) -> list[Entry]:
    """Read and check the catalogue. Raises CorpusError naming file and line."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            entries = [_entry(path, reader.line_num, row) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CorpusError(str(path), f"cannot read the catalogue: {error}", "restore data/catalog.csv") from None
    names = [(entry.source, entry.package) for entry in entries]
    for name in names:
        if names.count(name) > 1:
            raise CorpusError(str(path), f"two rows for {name[1]} of {name[0]}", "keep one of them")
    return entries


def find_entries(path: Path, source: str, packages: tuple[str, ...]) -> list[Entry]:
    """Look up packages of a source, in the order given. Raises CorpusError for one that the catalogue lacks."""
    known = {entry.package: entry for entry in read_catalog(path) if entry.source == source}
    for package in packages:
        if package not in known:
            close = difflib.get_close_matches(package, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"use one of {', '.join(sorted(known)) or 'none'}"
            raise CorpusError(str(path), f"no row for package {package!r} of source {source}", hint)
    return [known[package] for package in packages]
