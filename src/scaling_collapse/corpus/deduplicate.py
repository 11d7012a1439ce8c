"""Drop paragraphs that occur, exactly or nearly, in an earlier paragraph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from scaling_collapse.corpus.document import Document
from scaling_collapse.corpus.permutation import IntArray, UintArray, mix

GRAM_WORDS = 8
SAMPLE_ONE_IN = 4  # share of the word 8-grams that is compared; sampled by value, so equal grams are sampled alike
MAX_SEEN_SHARE = 0.5  # a paragraph with a larger share of grams seen before is a near-duplicate
_BLOCK_CHARACTERS = 1 << 22
_MULTIPLIER = np.uint64(6364136223846793005)  # Knuth's MMIX multiplier: odd, so powers never vanish modulo 2^64
_MAX_LETTERS = 64  # longer words are hashed by their first letters


def _lower_table() -> npt.NDArray[np.uint8]:
    table = np.zeros(256, np.uint8)  # 0: not part of a word
    for byte in b"0123456789abcdefghijklmnopqrstuvwxyz":
        table[byte] = byte
    table[ord("A") : ord("Z") + 1] = table[ord("a") : ord("z") + 1]
    table[128:] = np.arange(128, 256)  # letters beyond ASCII
    return table


_LOWER = _lower_table()
_POWERS = np.cumprod(np.full(_MAX_LETTERS, _MULTIPLIER, np.uint64))


def _word_hashes(text: bytes) -> tuple[UintArray, IntArray]:
    """Hash each word of a text; return (hashes, byte positions of the words' first letters)."""
    letters = _LOWER[np.frombuffer(text, np.uint8)]
    inside = letters > 0
    first = inside.copy()
    first[1:] &= ~inside[:-1]
    positions = np.flatnonzero(inside)
    starts = np.flatnonzero(first)
    if not len(starts):
        return np.empty(0, np.uint64), starts
    words = np.cumsum(first[positions]) - 1
    place = np.minimum(positions - starts[words], _MAX_LETTERS - 1)
    values = letters[positions].astype(np.uint64) * _POWERS[place]
    return mix(np.add.reduceat(values, np.searchsorted(positions, starts))), starts


def _blocks(paragraphs: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    first, size = 0, 0
    for index, paragraph in enumerate(paragraphs):
        size += len(paragraph)
        if size >= _BLOCK_CHARACTERS:
            yield first, paragraphs[first : index + 1]
            first, size = index + 1, 0
    yield first, paragraphs[first:]


def _sampled_grams(paragraphs: Sequence[str]) -> tuple[UintArray, IntArray]:
    """Hashes of sampled word n-grams that lie within one paragraph, and the paragraphs' indices."""
    grams, owners = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    for first, block in _blocks(paragraphs):
        encoded = [paragraph.encode() for paragraph in block]
        ends = np.cumsum([len(paragraph) + 1 for paragraph in encoded])
        words, starts = _word_hashes(b"\n".join(encoded))
        if len(words) < GRAM_WORDS:
            continue
        owner = np.searchsorted(ends, starts, side="right")
        count = len(words) - GRAM_WORDS + 1
        gram = np.zeros(count, np.uint64)
        for offset in range(GRAM_WORDS):
            gram = gram * _MULTIPLIER + words[offset : offset + count]
        gram = mix(gram)
        keep = (gram % np.uint64(SAMPLE_ONE_IN) == 0) & (owner[:count] == owner[GRAM_WORDS - 1 :])
        grams.append(gram[keep])
        owners.append(first + owner[:count][keep])
    return np.concatenate(grams), np.concatenate(owners)


def new_paragraphs(paragraphs: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Mark the paragraphs whose sampled word 8-grams mostly did not occur in an earlier paragraph."""
    grams, owners = _sampled_grams(paragraphs)
    order = np.argsort(grams, kind="stable")  # owners ascend, so the first of equal grams is the earliest
    grams, owners = grams[order], owners[order]
    fresh = np.ones(len(grams), bool)
    fresh[1:] = grams[1:] != grams[:-1]
    first_owner = owners[np.maximum.accumulate(np.where(fresh, np.arange(len(grams)), 0))]
    seen = np.bincount(owners[owners > first_owner], minlength=len(paragraphs))
    total = np.bincount(owners, minlength=len(paragraphs))
    return seen <= MAX_SEEN_SHARE * total


def deduplicate(documents: Sequence[Document], min_characters: int = 500) -> list[Document]:
    """Drop repeated lines (paragraphs) over all documents, then documents with less than `min_characters` left."""
    lines, owners, seen = [], [], set()
    for index, document in enumerate(documents):
        for line in document.text.split("\n"):
            if line not in seen:
                seen.add(line)
                lines.append(line)
                owners.append(index)
    kept: list[list[str]] = [[] for _ in documents]
    for line, owner, new in zip(lines, owners, new_paragraphs(lines).tolist(), strict=True):
        if new:
            kept[owner].append(line)
    texts = ("\n".join(paragraphs) for paragraphs in kept)
    return [
        Document(document.name, text)
        for document, text in zip(documents, texts, strict=True)
        if len(text) >= min_characters
    ]
