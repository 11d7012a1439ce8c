"""All formats, the most particular first: where two read equally many losses in a file, the first one counts."""

from __future__ import annotations

import difflib

from scaling_collapse.errors import LogError
from scaling_collapse.logs.formats.deepspeed import DeepSpeed
from scaling_collapse.logs.formats.delimited import Delimited
from scaling_collapse.logs.formats.json_array import JsonArray
from scaling_collapse.logs.formats.jsonl import JsonLines
from scaling_collapse.logs.formats.litgpt import LitGpt
from scaling_collapse.logs.formats.llmc import LlmC
from scaling_collapse.logs.formats.megatron import Megatron
from scaling_collapse.logs.formats.modded_nanogpt import ModdedNanoGpt
from scaling_collapse.logs.formats.nanogpt import NanoGpt
from scaling_collapse.logs.formats.parquet import MAGIC, Parquet
from scaling_collapse.logs.formats.plain import PlainLog
from scaling_collapse.logs.formats.tfevents import EventFile
from scaling_collapse.logs.formats.torchtitan import TorchTitan
from scaling_collapse.logs.formats.wandb_offline import HEADER, WandbOffline
from scaling_collapse.logs.parser import Parser

#: Formats of text that is read in a race; PlainLog enters only if all others found nothing.
TEXT: tuple[type[Parser], ...] = (
    JsonArray,
    JsonLines,
    NanoGpt,
    LlmC,
    ModdedNanoGpt,
    Megatron,
    LitGpt,
    TorchTitan,
    DeepSpeed,
    Delimited,
)
LAST_RESORT: tuple[type[Parser], ...] = (PlainLog,)
BINARY: tuple[type[Parser], ...] = (EventFile, WandbOffline, Parquet)
FORMATS: dict[str, type[Parser]] = {parser.name: parser for parser in (*TEXT, *LAST_RESORT, *BINARY)}

#: What TensorBoard writes first: a record of 24 bytes or so with "brain.Event:2" in it.
EVENT_MARK = b"brain.Event:"


def binary_format(head: bytes) -> type[Parser] | None:
    """Return the format that the first bytes of a file prove; None for text."""
    if head.startswith(MAGIC):
        return Parquet
    if head.startswith(HEADER[:6]):
        return WandbOffline
    return EventFile if EVENT_MARK in head[:64] else None


def format_named(name: str) -> type[Parser]:
    """Return a format. Raises LogError for a name that is none."""
    if name not in FORMATS:
        near = difflib.get_close_matches(name, FORMATS, n=1)
        fix = f"did you mean {near[0]}?" if near else f"use one of: {', '.join(FORMATS)}"
        raise LogError(f"--format {name}", "there is no such format.", fix)
    return FORMATS[name]
