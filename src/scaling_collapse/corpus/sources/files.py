"""The user's own texts: .txt, .jsonl and .parquet files, with mixture weights."""

from __future__ import annotations

import glob
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from scaling_collapse.config.corpus import FilePart, Files
from scaling_collapse.corpus.document import Document, first_bytes, in_hash_order
from scaling_collapse.errors import CorpusError


def _decode(path: Path, content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise CorpusError(
            f"{path}:{line}", f"not UTF-8: byte {error.start} is 0x{content[error.start]:02x}", "convert it to UTF-8"
        ) from None


def cut(text: str, size: int) -> list[str]:
    """Cut a text at blank lines (at line ends where it has none) into pieces of at least `size` characters."""
    separator = "\n\n" if "\n\n" in text else "\n"
    pieces, start = [], 0
    while start < len(text):
        found = text.find(separator, start + size)
        end = len(text) if found < 0 else found + len(separator)
        pieces.append(text[start:end])
        start = end
    return pieces


def _read_txt(path: Path, source: Files) -> Iterator[tuple[str, str]]:
    text = _decode(path, path.read_bytes())
    pieces = cut(text, source.document_bytes)
    for number, piece in enumerate(pieces, 1):
        yield (f"{number}" if len(pieces) > 1 else ""), piece


def _read_jsonl(path: Path, source: Files) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(_decode(path, path.read_bytes()).split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise CorpusError(f"{path}:{number}", f"not JSON: {error.msg}", "mend or delete the line") from None
        text = row.get(source.text_key) if isinstance(row, dict) else None
        if not isinstance(text, str):
            raise CorpusError(
                f"{path}:{number}",
                f"needs an object with a string under {source.text_key!r}",
                "mend the line or set corpus.source.text_key",
            )
        yield str(number), text


def _read_parquet(path: Path, source: Files) -> Iterator[tuple[str, str]]:
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(path)
        names = file.schema_arrow.names
        if source.text_key not in names:
            raise CorpusError(
                str(path),
                f"has no column {source.text_key!r}",
                f"set corpus.source.text_key to one of {', '.join(names)}",
            )
        column = file.read([source.text_key]).column(0)
    except (pyarrow.ArrowException, OSError) as error:
        raise CorpusError(str(path), f"not a parquet file: {error}", "write it again") from None
    for number, text in enumerate(column.to_pylist(), 1):
        if not isinstance(text, str):
            raise CorpusError(f"{path} row {number}", f"{source.text_key!r} is not a string", "fill or drop the row")
        yield str(number), text


_READERS: dict[str, Callable[[Path, Files], Iterator[tuple[str, str]]]] = {
    ".txt": _read_txt,
    ".jsonl": _read_jsonl,
    ".parquet": _read_parquet,
}


def find_files(part: FilePart, root: Path) -> list[Path]:
    """Files that a part's pattern names, sorted. Raises CorpusError for none, or one of an unknown kind."""
    found = [Path(name) for name in sorted(glob.glob(str(root / part.path), recursive=True))]
    found = [path for path in found if path.is_file()]
    if not found:
        raise CorpusError(part.path, "no such file", "check corpus.source.parts; paths start at the repository's root")
    for path in found:
        if path.suffix not in _READERS:
            raise CorpusError(str(path), f"unknown kind {path.suffix!r}", f"use one of {', '.join(_READERS)}")
    return found


def read_file(path: Path, name: str, source: Files) -> list[Document]:
    """Documents of one file, word for word; blank ones are left out. Raises CorpusError naming file and line."""
    try:
        rows = list(_READERS[path.suffix](path, source))
    except OSError as error:
        raise CorpusError(str(path), f"cannot read: {error.strerror}", "check the file's rights") from None
    documents = [Document(f"{name}#{row}" if row else name, text) for row, text in rows if text.strip()]
    if not documents:
        raise CorpusError(str(path), "holds no text", "remove it from corpus.source.parts")
    return documents


def mix(parts: Sequence[Sequence[Document]], weights: Sequence[float], salt: str) -> list[Document]:
    """Take, in hash order, as many documents of each part as keep the weights' shares of bytes; as much as possible."""
    sizes = [sum(len(document.text.encode()) for document in part) for part in parts]
    unit = min(size / weight for size, weight in zip(sizes, weights, strict=True))
    taken = (
        first_bytes(in_hash_order(part, salt), int(unit * weight)) for part, weight in zip(parts, weights, strict=True)
    )
    return [document for part in taken for document in part]


def read_parts(source: Files, root: Path, salt: str) -> tuple[list[Document], list[tuple[str, Path]]]:
    """Read all parts; return the documents, each text once, and the files as (name, path)."""
    parts: list[list[Document]] = []
    files: dict[str, Path] = {}
    texts: set[str] = set()
    for part in source.parts:
        documents: list[Document] = []
        for path in find_files(part, root):
            name = str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
            if name not in files:
                files[name] = path
                documents += [d for d in read_file(path, name, source) if d.text not in texts]
                texts.update(d.text for d in documents)
        if not documents:
            raise CorpusError(
                part.path, "repeats the texts of earlier parts only", "remove it from corpus.source.parts"
            )
        parts.append(documents)
    weights = [part.weight for part in source.parts if part.weight is not None]
    mixed = mix(parts, weights, salt) if weights else [document for part in parts for document in part]
    return mixed, list(files.items())
