"""Open a built corpus, checking that it is whole."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from scaling_collapse.config import corpus as config
from scaling_collapse.corpus.fetch import sha256_file
from scaling_collapse.corpus.shards import HELD_OUT_FILE, INFO_FILE, TRAIN_FILE, Info
from scaling_collapse.errors import CorpusError

REBUILD = "build the corpus again: collapse corpus build"
TokenMap = np.memmap[tuple[int], np.dtype[np.unsignedinteger]]


@dataclass(frozen=True)
class Corpus:
    """A corpus on disk: its description and its tokens as read-only 1-D memory maps."""

    info: Info
    train: TokenMap
    held_out: TokenMap


def read_info(folder: Path) -> Info:
    """Read corpus.json. Raises CorpusError if it is missing or garbled."""
    path = folder / INFO_FILE
    try:
        return Info.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise CorpusError(str(path), "there is no corpus here", REBUILD) from None
    except OSError as error:
        raise CorpusError(str(path), f"cannot read: {error.strerror}", REBUILD) from None
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "file"
        raise CorpusError(str(path), f"garbled ({key}: {first['msg']})", REBUILD) from None


def _map(path: Path, tokens: int, info: Info) -> TokenMap:
    expected = tokens * info.numpy_dtype.itemsize
    size = path.stat().st_size if path.is_file() else None
    if size != expected:
        found = "is missing" if size is None else f"has {size} bytes"
        raise CorpusError(str(path), f"{found}, corpus.json says {expected} bytes ({tokens} tokens)", REBUILD)
    return np.memmap(path, dtype=info.numpy_dtype, mode="r", shape=(tokens,))


def open_corpus(folder: Path, *, check_hashes: bool = False) -> Corpus:
    """Open a corpus folder.

    Sizes are always checked, SHA-256 of every file only if `check_hashes`. Raises CorpusError for whatever is missing,
    garbled or of another size or hash than corpus.json says.
    """
    info = read_info(folder)
    corpus = Corpus(
        info,
        _map(folder / TRAIN_FILE, info.train_tokens, info),
        _map(folder / HELD_OUT_FILE, info.held_out_tokens, info),
    )
    if check_hashes:
        verify_hashes(folder, info)
    return corpus


def require_settings(info: Info, settings: config.Corpus) -> None:
    """Raise CorpusError if the corpus was built from other settings than these."""
    built, wanted = info.settings, config.settings_of(settings)
    for key in wanted:
        if built.get(key) != wanted[key]:
            raise CorpusError(
                f"corpus.{key}", f"the corpus on disk was built with {built.get(key)}, wanted is {wanted[key]}", REBUILD
            )


def verify_hashes(folder: Path, info: Info) -> None:
    """Raise CorpusError unless every file of the folder has the hash that corpus.json gives."""
    for name, expected in info.sha256.items():
        path = folder / name
        if not path.is_file():
            raise CorpusError(str(path), "is missing", REBUILD)
        if sha256_file(path) != expected:
            raise CorpusError(str(path), f"damaged: sha256 is not {expected[:16]}... as corpus.json says", REBUILD)
