"""Files to runs: a file may hold many runs, and a run may lie in many files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scaling_collapse.errors import LogError
from scaling_collapse.logs.choose import TRAIN, VALIDATION, base_of, check_named, choose, split_of
from scaling_collapse.logs.curves import (
    LEAST_POINTS,
    SECOND_RUN,
    TOO_SHORT,
    LogCurve,
    LoggedRun,
    Losses,
    compact,
    curves_of_run,
    facts_of,
    numbered,
)
from scaling_collapse.logs.notes import Guess, Note, Notes
from scaling_collapse.logs.options import NUMBERED, Options
from scaling_collapse.logs.parser import Parser
from scaling_collapse.logs.repair import grouped, repair, runs_in
from scaling_collapse.logs.store import Store

OTHER_COLUMNS = "other loss columns not read (--all-losses keeps them)"


@dataclass(frozen=True)
class Part:
    """One file that was read: `name` is what its own run is called where the log gives it no name."""

    where: str
    name: str
    store: Store
    parser: Parser
    notes: tuple[Notes, ...]


@dataclass
class _Run:
    """What is known of one run name so far."""

    where: str
    named_in_log: bool
    pieces: list[Losses] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)


class Runs:
    """Collects parts, then repairs the runs."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._runs: dict[str, _Run] = {}
        self._notes: list[Notes] = []
        self._guesses: list[Guess] = []

    def add(self, part: Part) -> None:
        """Take the losses of a file. Raises LogError for options that do not fit it."""
        store = part.store
        per_series = np.bincount(store.code, minlength=len(store.series))
        counts: dict[str, int] = {}
        for (_, column), count in zip(store.series, per_series.tolist(), strict=True):
            counts[column] = counts.get(column, 0) + count
        check_named(counts, self._options, part.where)
        self._check_columns(part)
        splits = choose(counts, self._options)
        own = Notes(part.where)
        if others := list(dict.fromkeys(base_of(column) for column in counts if column not in splits)):
            own.add(OTHER_COLUMNS, ", ".join(others), count=len(others))
        self._notes += [*part.notes, own]
        self._guess(part, splits)
        self._sort_in(part, splits)

    def finish(self) -> tuple[tuple[LogCurve, ...], tuple[Note, ...]]:
        """Return all curves, and the notes on files and repairs."""
        curves: list[LogCurve] = []
        for name, run in self._runs.items():
            notes = Notes(run.where)
            self._notes.append(notes)
            losses = _joined(run.pieces)
            if len(losses.step) < LEAST_POINTS:
                notes.add(TOO_SHORT, name, lost=True)
                continue
            found = repair(losses.step, losses.split, losses.loss, self._is_one(run))
            if len(found) > 1:
                notes.add(SECOND_RUN, name, count=len(found) - 1)
            facts = facts_of(run.facts, self._options)
            for number, repaired in enumerate(found, 1):
                label = numbered(name, number)
                curves += curves_of_run(label, losses, repaired, facts, self._options.tokens_per_step, notes)
        return tuple(curves), _summed(self._notes)

    def logged(self) -> tuple[LoggedRun, ...]:
        """Return all runs, told apart as `finish` does, but not repaired."""
        found = []
        for name, run in self._runs.items():
            losses, facts = _joined(run.pieces), facts_of(run.facts, self._options)
            parts = runs_in(losses.step, losses.split, self._is_one(run))
            found += [LoggedRun(numbered(name, n), losses.part(part), facts, n) for n, part in enumerate(parts, 1)]
        return tuple(found)

    def notes(self) -> tuple[Note, ...]:
        """Return the notes on files so far."""
        return _summed(self._notes)

    def guesses(self) -> tuple[Guess, ...]:
        """Return what was guessed of each file."""
        return tuple(self._guesses)

    def _is_one(self, run: _Run) -> bool:
        """Whether steps that begin again are a restart, since the run has a name of its own."""
        return run.named_in_log or self._options.run is not None

    def _check_columns(self, part: Part) -> None:
        """Raise LogError for a column of the options that the file does not have."""
        step, run = self._options.step, self._options.run_column
        for option, name in (("--step", None if step == NUMBERED else step), ("--run-column", run)):
            if name is not None and name not in part.parser.columns:
                raise LogError(f"{option} {name}", f"no such column in {part.where} ({part.parser.name}).")

    def _sort_in(self, part: Part, splits: dict[str, str]) -> None:
        """Give each run the losses that are its."""
        store, options = part.store, self._options
        named = {run for run, column in store.series if run and column in splits}
        if options.run is not None and len(named) > 1:
            raise LogError(f"--run {options.run}", f"{part.where} names {len(named)} runs itself.", "leave --run out")
        labels = {split: code for code, split in enumerate(dict.fromkeys(splits.values()))}
        names = [options.run or run or part.parser.run or part.name for run, _ in store.series]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        run_of = np.array([numbers[n] if c in splits else -1 for n, (_, c) in zip(names, store.series, strict=True)])
        split = np.array([labels[splits[c]] if c in splits else -1 for _, c in store.series], dtype=np.int32)
        by_number, split_names = list(numbers), tuple(labels)
        for number, indices in grouped(run_of[store.code]):
            if number < 0:
                continue
            name, chosen = by_number[number], compact(indices)
            run = self._runs.setdefault(name, _Run(part.where, name in named))
            arrays = (store.step[chosen], store.loss[chosen], store.lr[chosen], store.tokens[chosen])
            run.pieces.append(Losses(split_names, split[store.code[chosen]], *arrays))
            run.facts |= part.parser.facts.get("", {})
        for name, (run_in_log, _) in zip(names, store.series, strict=True):
            if name in self._runs and run_in_log:
                self._runs[name].facts |= part.parser.facts.get(run_in_log, {})

    def _guess(self, part: Part, splits: dict[str, str]) -> None:
        """Tell what the user did not say."""
        options, parser, said = self._options, part.parser, part.parser.said
        if options.format is None:
            self._tell(part, "format", parser.name, "--format")
        for split, given in ((TRAIN, options.loss), (VALIDATION, options.validation)):
            column = next((base_of(c) for c, s in splits.items() if s == split), None)
            if column is not None and given is None and split not in map(split_of, splits):
                self._tell(part, split, f"column {column!r}", "--loss" if split == TRAIN else "--validation")
        known = {"split": False, "step": options.step is not None, "tokens": options.tokens_per_step is not None}
        for what, is_given in known.items():
            if what in said and not is_given:
                self._tell(part, what, *said[what])
        if options.run is None and options.run_column is None:
            if not any(run for run, _ in part.store.series):
                source = "as the log says" if parser.run else "from the file's name"
                self._tell(part, "run", f"{parser.run or part.name} ({source})", "--run")
            elif "run" in said:
                self._tell(part, "run", *said["run"])

    def _tell(self, part: Part, what: str, value: str, option: str) -> None:
        self._guesses.append(Guess(part.where, what, value, option))


def _joined(pieces: list[Losses]) -> Losses:
    """Return the pieces of one run as one, in their order."""
    if len(pieces) == 1:
        return pieces[0]
    labels = {label: code for code, label in enumerate(dict.fromkeys(x for piece in pieces for x in piece.splits))}
    codes = [np.array([labels[label] for label in piece.splits], dtype=np.int32) for piece in pieces]
    split = np.concatenate([code[piece.split] for code, piece in zip(codes, pieces, strict=True)])
    arrays = [np.concatenate([getattr(piece, name) for piece in pieces]) for name in ("step", "loss", "lr", "tokens")]
    return Losses(tuple(labels), split, *arrays)


def _summed(all_notes: list[Notes]) -> tuple[Note, ...]:
    """Return one note for each file and kind."""
    summed: dict[tuple[str, str], Note] = {}
    for notes in all_notes:
        for note in notes:
            old = summed.get((note.where, note.what))
            count = note.count + (old.count if old else 0)
            example = old.example if old else note.example
            summed[note.where, note.what] = Note(note.where, count, note.what, example, note.lost)
    return tuple(summed.values())
