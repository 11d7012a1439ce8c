"""A stage of the pipeline, and the key of what it makes: equal keys, equal meaning.

A record says what a stage with some key has made. Keys and records are those of DVC's run-cache, so that
`dvc push --run-cache`, `dvc repro` and `dvc gc` understand them.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scaling_collapse.identity.hashing import Content

#: Fields of a record that follow from others and are no part of a key (as in dvc.stage.cache).
DERIVED = frozenset({"size", "nfiles"})
MARK = "  # "  # between a command and the settings behind it

Record = dict[str, Any]


@dataclass(frozen=True)
class Stage:
    """One job: all that decides its outputs, and what these are. Paths are relative to the repository."""

    name: str  # unique among all stages, made of letters, digits, - and _
    title: str  # what it does, in words
    rule: str
    command: str  # with neutral words for whatever is no part of its meaning
    settings: Mapping[str, Any]  # every parameter, as plain JSON values
    inputs: tuple[str, ...]  # what it reads, with the fingerprint of its code
    outputs: tuple[str, ...]  # what others read
    logs: tuple[str, ...] = ()  # what tells how it went: kept with the outputs, missed by nobody

    @property
    def files(self) -> tuple[str, ...]:
        """Everything that is kept of the stage."""
        return (*self.outputs, *self.logs)

    @property
    def line(self) -> str:
        """What `dvc repro` would run, with all that decides the result beside it as JSON."""
        scale = self.settings.get("scale")
        options = f" --config scale={shlex.quote(str(scale))}" if scale else ""
        meaning = json.dumps({"command": self.command, "settings": self.settings}, sort_keys=True)
        return f"snakemake --cores all {shlex.quote(self.outputs[0])}{options}{MARK}{meaning}"

    def record(self, contents: Mapping[str, Content]) -> Record:
        """Return the record of this stage with those contents of its inputs and files. Raises KeyError."""
        return {
            "cmd": self.line,
            "deps": [_described(path, contents[path]) for path in sorted(self.inputs)],
            "outs": [_described(path, contents[path]) for path in sorted(self.files)],
        }

    def key(self, inputs: Mapping[str, Content]) -> str:
        """Return the key under which this stage's record is kept, given what its inputs hold."""
        deps = [_described(path, inputs[path]) for path in sorted(self.inputs)]
        return _digest({"cmd": self.line, "deps": deps, "outs": sorted(self.files)})


def key_of(record: Record) -> str:
    """Return the key that a record belongs under."""
    return _digest({**record, "outs": [out["path"] for out in record["outs"]]})


def value_of(record: Record) -> str:
    """Return the name of a record among those of one key."""
    return _digest(record)


def meaning_of(record: Record) -> dict[str, Any]:
    """Return the command and settings that a record was made with; empty if it does not say."""
    _, _, text = str(record["cmd"]).partition(MARK)
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def contents_of(record: Record, part: str = "outs") -> dict[str, Content]:
    """Return what the files of a record hold; `part` is outs or deps."""
    return {entry["path"]: Content(entry["md5"], entry["size"]) for entry in record[part]}


def _described(path: str, content: Content) -> dict[str, Any]:
    return {"path": path, "hash": "md5", "md5": content.md5, "size": content.size}


def _digest(value: Any) -> str:
    """SHA-256 as dvc.utils.dict_sha256 takes it."""
    return hashlib.sha256(json.dumps(_without_derived(value), sort_keys=True).encode()).hexdigest()


def _without_derived(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_derived(item) for name, item in value.items() if name not in DERIVED}
    if isinstance(value, list):
        return [_without_derived(item) for item in value]
    return value
