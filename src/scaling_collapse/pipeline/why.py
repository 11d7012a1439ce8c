"""Why a stage would run: what changed since what lies here, or in a lab mate's dvc.lock, was made."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scaling_collapse.cache.dvc_files import read_lock
from scaling_collapse.identity.difference import Change, changes
from scaling_collapse.identity.hashing import Content
from scaling_collapse.identity.resolve import State
from scaling_collapse.identity.stage import Record, contents_of
from scaling_collapse.paths import StagePaths
from scaling_collapse.pipeline.planning import Plan

CODE_FOLDER = f"{StagePaths().code_folder.as_posix()}/"


@dataclass(frozen=True)
class Reason:
    """A stage, where its outputs are, and what changed since they were made last; `first`: nobody has made them yet."""

    state: State
    changed: list[Change] = field(default_factory=list)
    first: bool = False


def reasons(plan: Plan) -> list[Reason]:
    """Return the reason of each stage that matters for the plan's targets and is not in its place."""
    lock = read_lock(plan.session.root)
    found = []
    for state in plan.needed():
        if state.where == "here":
            continue
        name = state.stage.name
        made = plan.session.made.get(name)
        old = made.record if made else lock.get(name)
        found.append(Reason(state, compare(plan, state, old) if old else [], first=old is None))
    return found


def compare(plan: Plan, state: State, old: Record) -> list[Change]:
    """Return what differs between an old record and what the stage would be made from now."""
    before, known = contents_of(old, "deps"), dict[str, Content]()
    waits = set()
    for path in state.stage.inputs:
        maker = plan.maker(path)
        if maker is None:
            with suppress(OSError):
                known[path] = plan.session.hashes.content(path)
        elif maker.record is not None:
            known[path] = contents_of(maker.record)[path]
        elif path in before:
            known[path] = before[path]
            waits.add(maker.stage.name)
    shown = {path: known.get(path, Content("absent", 0)) for path in state.stage.inputs}
    now = state.stage.record(shown | dict.fromkeys(state.stage.files, Content("", 0)))
    code = next((path for path in shown if path.startswith(CODE_FOLDER)), None)
    new_code = _read(plan.session.root / code) if code else {}
    old_code = _kept_code(plan, before[code]) if code and code in before else {}
    found = [c for c in changes(old, now, old_code, new_code) if not (c.name == code and old_code)]
    return found + [Change("input", name, "as before", "made anew first") for name in sorted(waits)]


def _kept_code(plan: Plan, content: Content) -> dict[str, Any]:
    """Return an old fingerprint, which the cache keeps as an object; empty where it does not."""
    store = plan.session.store
    return _read(store.local.object(content)) if store and store.have([content]) else {}


def _read(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
