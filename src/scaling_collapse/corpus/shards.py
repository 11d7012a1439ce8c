"""The corpus folder: token shards as flat memory maps, the tokenizer, and corpus.json that describes them."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

INFO_FILE, TOKENIZER_FILE, TRAIN_FILE, HELD_OUT_FILE = "corpus.json", "tokenizer.json", "train.bin", "held_out.bin"

Tokens = npt.NDArray[np.unsignedinteger]


class SourceFile(BaseModel):
    """A file that the corpus was made from."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    version: str = ""
    licence: str = ""
    sha256: str


class Info(BaseModel):
    """Contents of corpus.json. Sizes in bytes are UTF-8 bytes of the text that the tokens stand for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = 1
    source: str
    sources: tuple[SourceFile, ...]
    vocabulary: int = Field(gt=1)
    end_of_text: int | None = Field(description="Token between documents; null where there are none")
    dtype: Literal["uint16", "uint32"]
    train_tokens: int = Field(gt=0)
    held_out_tokens: int = Field(gt=0)
    train_bytes: int | None
    held_out_bytes: int | None
    train_documents: int
    held_out_documents: int
    bytes_per_token: dict[Literal["train", "held_out"], float] | None = Field(
        description="Null where tokens are no text"
    )
    irreducible_loss_nats: float | None = Field(None, description="Exact floor of the loss [nats/token], where known")
    sha256: dict[str, str] = Field(description="Hash of each file beside this one")
    settings: dict[str, Any] = Field(description="The corpus block of the configuration, without max_epochs")

    @property
    def numpy_dtype(self) -> np.dtype[np.unsignedinteger]:
        """Little-endian dtype of the shards."""
        return np.dtype({"uint16": "<u2", "uint32": "<u4"}[self.dtype])


def write_shard(path: Path, chunks: Iterable[Tokens]) -> int:
    """Append chunks of tokens to a flat file; return the number of tokens."""
    tokens = 0
    with path.open("wb") as file:
        for chunk in chunks:
            chunk.tofile(file)
            tokens += len(chunk)
    return tokens


def write_info(folder: Path, info: Info) -> None:
    """Write corpus.json."""
    text = json.dumps(info.model_dump(mode="json"), indent=2, sort_keys=True, ensure_ascii=False)
    (folder / INFO_FILE).write_text(text + "\n", encoding="utf-8")


@contextmanager
def replaced_folder(target: Path) -> Iterator[Path]:
    """Give an empty folder beside `target` that takes its place when the block ends well, and vanishes otherwise."""
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        folder.chmod(0o755)
        yield folder
        old = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        if target.exists():
            os.replace(target, old / "old")
        os.replace(folder, target)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
