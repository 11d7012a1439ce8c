"""A named piece of text, and which of them are held out."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Document:
    """One document: a service's documentation, a speech, an RFC, a file or a row of one."""

    name: str
    text: str


def hash_fraction(salt: str, name: str) -> float:
    """Map a document's name to [0, 1), evenly, whatever other documents there are."""
    digest = hashlib.sha256(f"{salt}:{name}".encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56


def in_hash_order(documents: Sequence[Document], salt: str) -> list[Document]:
    """Sort documents by the hash of their names, so that any first part of them is a random sample."""
    return sorted(documents, key=lambda document: (hash_fraction(salt, document.name), document.name))


def first_bytes(documents: Sequence[Document], max_bytes: int | None) -> list[Document]:
    """Take documents from the front until they hold `max_bytes` of UTF-8; the last one may exceed it."""
    if max_bytes is None:
        return list(documents)
    taken, size = [], 0
    for document in documents:
        if size >= max_bytes:
            break
        taken.append(document)
        size += len(document.text.encode())
    return taken


def split(documents: Sequence[Document], held_out_fraction: float, salt: str) -> tuple[list[Document], list[Document]]:
    """Divide documents into (train, held_out) by the hash of their names.

    A document's side does not depend on the other documents, except that the one with the lowest hash is always held
    out and the one with the highest always trained on, so that small corpora have both sides (needs 2 documents).
    """
    ordered = in_hash_order(documents, salt)
    below = sum(hash_fraction(salt, document.name) < held_out_fraction for document in ordered)
    cut = min(max(below, 1), len(ordered) - 1)
    return ordered[cut:], ordered[:cut]
