"""From a log's losses to curves that the project's table takes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scaling_collapse.logs.notes import Notes
from scaling_collapse.logs.options import FACTS, Options
from scaling_collapse.logs.repair import Repaired

#: The table counts steps from 1 (curves/table.py); a loss at step 0 is of a model that is not trained yet.
FIRST_STEP = 1
#: Points that a curve needs (curves/table.py).
LEAST_POINTS = 2

BEFORE_TRAINING = "losses at step 0 or before, left out: the table counts steps from 1"
NOT_FINITE = "NaN or infinite losses, left out"
NOT_POSITIVE = "zero or negative losses, left out: the table holds positive ones"
TOO_SHORT = "curves of less than two points, left out"
TOKENS = "curves without increasing tokens: tokens left empty"
TAKEN_BACK = "losses overwritten after a restart: the later kept"
DUPLICATES = "steps written twice with the same loss"
DIFFERING = "steps written twice with another loss: the later kept"
INTERLEAVED = "runs with most steps written twice: perhaps two runs in one log"
DISORDER = "places with steps out of order: sorted"
SECOND_RUN = "more runs under one name (steps begin again): told apart by a number"

#: From this part of a run's steps on, double steps look like two runs in one.
MOST = 0.5


@dataclass(frozen=True)
class LogCurve:
    """Losses of one run and split by increasing step. Arrays have shape (n,); `facts` holds columns of FACTS.

    `not_finite` (m,) are the steps whose loss was NaN or infinite; they are not among the others.
    """

    run: str
    split: str
    step: np.ndarray
    loss: np.ndarray
    lr: np.ndarray
    tokens: np.ndarray
    facts: Mapping[str, Any]
    not_finite: np.ndarray = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True)
class Losses:
    """What one run name wrote, in log order: arrays of shape (n,), `split` indexing `splits`."""

    splits: tuple[str, ...]
    split: np.ndarray
    step: np.ndarray
    loss: np.ndarray
    lr: np.ndarray
    tokens: np.ndarray

    def part(self, where: slice) -> Losses:
        """Return the losses of a part of the log."""
        arrays = (self.split, self.step, self.loss, self.lr, self.tokens)
        return Losses(self.splits, *(array[where] for array in arrays))


@dataclass(frozen=True)
class LoggedRun:
    """One run as its log has it, with nothing repaired: NaN, restarts and steps written twice are there.

    `name` is that of its curves: `x (2)` for the run of `number` 2 under one name. `facts` holds columns of FACTS.
    """

    name: str
    losses: Losses
    facts: Mapping[str, Any]
    number: int = 1


def numbered(name: str, number: int) -> str:
    """Return the name of the run that comes as the `number`-th, from 1, under one name."""
    return name if number == 1 else f"{name} ({number})"


def curves_of_run(
    name: str, losses: Losses, found: Repaired, facts: Mapping[str, Any], tokens_per_step: float | None, notes: Notes
) -> list[LogCurve]:
    """Return the curves of a repaired run; what the table cannot hold is left out and counted."""
    _tell(name, found, notes)
    curves = []
    for code, indices in found.keep.items():
        chosen = compact(indices)
        step, loss, lr, tokens = (a[chosen] for a in (losses.step, losses.loss, losses.lr, losses.tokens))
        good = _usable(name, step, loss, notes)
        if good.sum() < LEAST_POINTS:
            if good.any():
                notes.add(TOO_SHORT, f"{name}, {losses.splits[code]}", lost=True)
            continue
        lost = step[~np.isfinite(loss) & (step >= FIRST_STEP)]
        if not good.all():
            step, loss, lr, tokens = (a[good] for a in (step, loss, lr, tokens))
        if tokens_per_step is not None:
            tokens = step * tokens_per_step
        lr, tokens = (np.where(np.isfinite(a), a, np.nan) if np.isinf(a).any() else a for a in (lr, tokens))
        known = tokens[np.isfinite(tokens)]
        if len(known) and ((known < 0).any() or (np.diff(known) <= 0).any()):
            notes.add(TOKENS, name)
            tokens = np.full(len(tokens), np.nan)
        curves.append(LogCurve(name, losses.splits[code], step, loss, lr, tokens, facts, lost))
    return curves


def facts_of(said: Mapping[str, Any], options: Options) -> dict[str, Any]:
    """Return the facts of a run: the user's before the log's, numbers as numbers; what cannot be is left out."""
    facts: dict[str, Any] = {}
    for name in FACTS:
        value = options.facts.get(name, said.get(name))
        if name == "schedule":
            facts[name] = value if isinstance(value, str) else ""
        else:
            facts[name] = _number(value)
    if options.tokens_per_step is not None:
        facts["batch_tokens"] = float(options.tokens_per_step)
    return facts


def compact(indices: np.ndarray) -> np.ndarray | slice:
    """Return consecutive indices as a slice, which copies nothing."""
    consecutive = len(indices) > 0 and bool((np.diff(indices) == 1).all())
    return slice(int(indices[0]), int(indices[-1]) + 1) if consecutive else indices


def _usable(name: str, step: np.ndarray, loss: np.ndarray, notes: Notes) -> np.ndarray:
    late, finite = step >= FIRST_STEP, np.isfinite(loss)
    with np.errstate(invalid="ignore"):
        positive = loss > 0
    for bad, what in (
        (~late, BEFORE_TRAINING),
        (late & ~finite, NOT_FINITE),
        (late & finite & ~positive, NOT_POSITIVE),
    ):
        if bad.any():
            notes.add(what, f"{name} at step {step[bad][0]}", count=int(bad.sum()), lost=True)
    return np.asarray(late & finite & positive)


def _tell(name: str, found: Repaired, notes: Notes) -> None:
    if found.taken_back:
        at = [f"back from step {last} to {first}" for first, last in found.restarts[:1]]
        notes.add(TAKEN_BACK, f"{name}, {at[0]}" if at else name, count=found.taken_back)
    if found.duplicates - found.differing:
        notes.add(DUPLICATES, name, count=found.duplicates - found.differing)
    if found.differing:
        notes.add(DIFFERING, name, count=found.differing)
        if found.differing > MOST * sum(map(len, found.keep.values())):
            notes.add(INTERLEAVED, name)
    if found.disordered:
        notes.add(DISORDER, name, count=found.disordered)


def _number(value: Any) -> float:
    """Return a finite number, or NaN."""
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return found if math.isfinite(found) else math.nan
