"""The code and the packages that can change what a command computes, as a fingerprint."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from scaling_collapse.identity.meaning import meaning
from scaling_collapse.identity.modules import SourceTree

PACKAGE = "scaling_collapse"
#: Modules that decide how a stage is run and reported, and none of its numbers.
EXECUTION = frozenset(
    f"{PACKAGE}.{name}"
    for name in (
        "errors",
        "file_lock",
        "live.watched_progress",
        "paths",
        "train.lock",
        "train.progress",
        "train.stop",
        "whole_file",
    )
)
#: Rooms whose whole effect on a command is in its stage's parameters, because these hold every setting, resolved.
#: Editing how a sweep is written down then retrains nothing, as long as the runs that come out are the same.
RESOLVED: Mapping[str, frozenset[str]] = {
    "train": frozenset({"config", "plan", "scaling"}),
    "corpus": frozenset({"config"}),
}
#: Modules of these rooms that count nevertheless: their classes hold settings, and their properties are formulas.
HOLDERS = frozenset(f"{PACKAGE}.{name}" for name in ("config.corpus", "config.model", "config.recipe", "plan.run"))
#: Packages that are imported for settings and messages, not for numbers; PyYAML is imported as yaml.
NOT_NUMERICAL = frozenset({"pydantic", "rich", "typer", "yaml"})


@dataclass(frozen=True)
class Fingerprint:
    """`modules`: SHA-256 of each module's meaning; `packages`: version of each package, without build label."""

    modules: dict[str, str]
    packages: dict[str, str]

    def text(self) -> str:
        """The fingerprint as JSON, equal for equal meaning."""
        return json.dumps(asdict(self), indent=1, sort_keys=True) + "\n"


def fingerprint(command: str, drawn: str | None = None, sources: Path | None = None) -> Fingerprint:
    """Return the fingerprint of `collapse <command>`; `drawn` names a figure, whose module is imported by name.

    `sources` is the folder that holds the package (default: where it was imported from).
    """
    tree = SourceTree(sources or Path(__file__).parents[2])
    entries = [f"{PACKAGE}.cli.{command}"]
    if drawn is not None and tree.file(module := f"{PACKAGE}.figures.{drawn}"):
        entries.append(module)
    rooms = RESOLVED.get(command, frozenset())

    def follow(module: str) -> bool:
        room = module.removeprefix(f"{PACKAGE}.").partition(".")[0]
        return module not in EXECUTION and (room not in rooms or module in HOLDERS)

    found = tree.closure(entries, follow)
    return Fingerprint(
        {module: _module_meaning(tree, module) for module in sorted(found.own)},
        {name: found_version for name in sorted(found.foreign - NOT_NUMERICAL) if (found_version := _version(name))},
    )


def _module_meaning(tree: SourceTree, module: str) -> str:
    path = tree.file(module)
    assert path is not None, module
    status = path.stat()
    return _file_meaning(path, status.st_mtime_ns, status.st_size)


@cache
def _file_meaning(path: Path, _modified: int, _size: int) -> str:
    return meaning(path.read_text(encoding="utf-8"))


@cache
def _version(package: str) -> str | None:
    """Return a package's version; 2.13.0+cpu and 2.13.0+cu130 are one version: the device is no part of a meaning."""
    try:
        return version(package).partition("+")[0]
    except PackageNotFoundError:
        return None
