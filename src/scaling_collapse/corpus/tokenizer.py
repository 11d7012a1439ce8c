"""Byte-level BPE trained on the corpus, and an encoder that looks at each different word once."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from scaling_collapse.config.corpus import BYTE_VOCABULARY
from scaling_collapse.corpus.document import Document, first_bytes
from scaling_collapse.corpus.shards import Tokens
from scaling_collapse.errors import CorpusError

END_OF_TEXT = "<|endoftext|>"
# Pre-tokens: a word, a digit, other characters (each with the space before it), or white space. Everything beyond ASCII
# counts as a letter and white space is spelled out, so Python's and the library's regular expressions always agree.
_LETTER = "A-Za-z\u0080-\U0010ffff"
_SPACE = r" \t\r\n"
PRE_TOKEN = f" ?[{_LETTER}]+| ?[0-9]| ?[^{_SPACE}0-9{_LETTER}]+|[{_SPACE}]+(?![^{_SPACE}])|[{_SPACE}]+"
TRAINING_BYTES = 1 << 24  # merges are learned from the first documents, about this much text [bytes], to save time
_BLOCK_DOCUMENTS_BYTES = 1 << 23


def train_tokenizer(documents: Sequence[Document], vocabulary: int) -> Tokenizer:
    """Train a BPE of `vocabulary` tokens on the first documents; token 0 ends a text.

    Raises CorpusError if the vocabulary is too small for bytes, or the text too small for the vocabulary.
    """
    if vocabulary < BYTE_VOCABULARY:
        raise CorpusError(
            "corpus.vocabulary", f"{vocabulary} is too small for bytes", f"use at least {BYTE_VOCABULARY}"
        )
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PRE_TOKEN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[END_OF_TEXT],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # leave the other cores to training runs
    sample = first_bytes(documents, TRAINING_BYTES)
    tokenizer.train_from_iterator((line for document in sample for line in document.text.splitlines(True)), trainer)
    size = tokenizer.get_vocab_size()
    if size != vocabulary:
        raise CorpusError(
            "corpus.vocabulary",
            f"the text yields only {size} tokens, {vocabulary} were asked for",
            f"use {size} or fewer",
        )
    return _plain(tokenizer)


def _plain(tokenizer: Tokenizer) -> Tokenizer:
    """Make the end-of-text marker inside a document ordinary text."""
    tokenizer.encode_special_tokens = True
    return tokenizer


def number_tokenizer(vocabulary: int) -> Tokenizer:
    """A tokenizer for tokens that stand for no text: it writes them as numbers between spaces."""
    tokenizer = Tokenizer(models.WordLevel({str(token): token for token in range(vocabulary)}))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer


def load_tokenizer(path: Path) -> Tokenizer:
    """Read a tokenizer written by `save_tokenizer`. Raises CorpusError if it is missing or garbled."""
    try:
        return _plain(Tokenizer.from_str(path.read_text(encoding="utf-8")))
    except Exception as error:  # the library raises bare Exception
        raise CorpusError(str(path), f"cannot read the tokenizer: {error}", "build the corpus again") from None


def save_tokenizer(tokenizer: Tokenizer, path: Path) -> None:
    """Write the tokenizer as JSON."""
    path.write_text(tokenizer.to_str(pretty=True), encoding="utf-8")


def _groups(documents: Iterable[Document]) -> Iterator[list[Document]]:
    group: list[Document] = []
    size = 0
    for document in documents:
        group.append(document)
        size += len(document.text)
        if size >= _BLOCK_DOCUMENTS_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


class Encoder:
    """Encodes documents as the library does, token for token, but each different pre-token only once.

    BPE never merges across pre-tokens, so a text's tokens are its pre-tokens' tokens, one after the other.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._pattern = re.compile(PRE_TOKEN)
        self._end_of_text = tokenizer.token_to_id(END_OF_TEXT)
        self.dtype = np.dtype("<u2" if tokenizer.get_vocab_size() <= 1 << 16 else "<u4")
        self._index: dict[str, int] = {END_OF_TEXT: 0}  # no pre-token spells it: letters and signs are kept apart
        self._lengths = np.array([1], np.int64)
        self._tokens = np.array([self._end_of_text], self.dtype)

    def _learn(self, words: Iterable[str]) -> None:
        fresh = [word for word in dict.fromkeys(words) if word not in self._index]
        if not fresh:
            return
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch_fast(fresh)]
        self._index.update(zip(fresh, range(len(self._index), len(self._index) + len(fresh)), strict=True))
        self._lengths = np.append(self._lengths, [len(tokens) for tokens in ids])
        self._tokens = np.append(self._tokens, np.array([t for tokens in ids for t in tokens], self.dtype))

    def _encode_words(self, words: list[str]) -> Tokens:
        self._learn(words)
        index = np.fromiter(map(self._index.__getitem__, words), np.int64, len(words))
        lengths = self._lengths[index]
        table_starts = np.cumsum(self._lengths) - self._lengths
        out_starts = np.cumsum(lengths) - lengths
        source = np.repeat(table_starts[index] - out_starts, lengths) + np.arange(int(lengths.sum()))
        tokens: Tokens = self._tokens[source]
        return tokens

    def encode(self, text: str) -> Tokens:
        """Tokens of a text, without end-of-text."""
        return self._encode_words(self._pattern.findall(text))

    def encode_documents(self, documents: Iterable[Document]) -> Iterator[Tokens]:
        """Yield arrays of tokens, a few MB of text at a time, each document followed by end-of-text."""
        for group in _groups(documents):
            words: list[str] = []
            for document in group:
                words += self._pattern.findall(document.text)
                words.append(END_OF_TEXT)
            yield self._encode_words(words)
