"""What changed between two meanings of a stage, in words: settings, code, packages, inputs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scaling_collapse.identity.stage import Record, contents_of, meaning_of

ABSENT = "absent"


@dataclass(frozen=True)
class Change:
    """One thing that differs. `kind`: setting, command, code, package, input or output; `old` and `new` as text."""

    kind: str
    name: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}: {self.old} -> {self.new}"


def changes(old: Record, new: Record, old_code: Mapping[str, Any], new_code: Mapping[str, Any]) -> list[Change]:
    """Return what differs between two records of a stage, without what follows from it: the content of outputs.

    `old_code` and `new_code` are fingerprints as dictionaries (modules, packages); empty where they are not known.
    """
    before, after = meaning_of(old), meaning_of(new)
    found = [Change("setting", *change) for change in _differing(before.get("settings"), after.get("settings"))]
    found += [Change("command", *change) for change in _differing(before.get("command"), after.get("command"), "line")]
    if old_code and new_code:
        for kind, part in (("code", "modules"), ("package", "packages")):
            found += [
                Change(kind, name, old[:12], new[:12])
                for name, old, new in _differing(old_code.get(part, {}), new_code.get(part, {}))
            ]
    found += [Change("input", *change) for change in _differing(_inputs(old), _inputs(new))]
    return found


def _inputs(record: Record) -> dict[str, str]:
    return {path: content.md5[:12] for path, content in contents_of(record, "deps").items()}


def _differing(old: Any, new: Any, name: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield (name, old, new) of each leaf that differs; names of nested values are joined by dots."""
    if old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted(old.keys() | new.keys()):
            yield from _differing(old.get(key, ABSENT), new.get(key, ABSENT), f"{name}.{key}" if name else str(key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _differing(one, other, f"{name}[{index}]")
    else:
        yield name, _text(old), _text(new)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
