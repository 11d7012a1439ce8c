"""A finished log under watch: every run of a file of any format, judged as if it came line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scaling_collapse.cli.watch_log import another_run
from scaling_collapse.cli.watch_run import WatchedRun
from scaling_collapse.cli.watch_setting import Setting
from scaling_collapse.curves.curve import Curve, curves_of
from scaling_collapse.curves.difficulty import adjusted_loss
from scaling_collapse.curves.table import read_curves
from scaling_collapse.errors import CurveError
from scaling_collapse.logs.curves import LoggedRun, Losses
from scaling_collapse.logs.given import guess_lines, is_tidy, listed
from scaling_collapse.logs.names import is_validation
from scaling_collapse.logs.options import Options
from scaling_collapse.logs.read import read_logged

#: Lines on references that are still read.
MANY_LINES = 8


@dataclass(frozen=True)
class FinishedLog:
    """Runs of a file, and in words what was guessed to read it."""

    runs: tuple[LoggedRun, ...]
    said: tuple[str, ...]


def read_finished(path: Path, options: Options) -> FinishedLog:
    """Read a tidy table, or a log of any format. Raises LogError, naming the file, where there are no losses.

    A tidy table that does not pass its checks is read as a log, whose faults are what is looked for.
    """
    if options == Options() and is_tidy(path):
        try:
            return FinishedLog(_runs_of_table(path), ())
        except CurveError:
            pass
    found = read_logged(path, options)
    return FinishedLog(found.runs, guess_lines(found.guesses, found.notes))


def watch_finished(runs: Sequence[LoggedRun], setting: Setting) -> dict[str, WatchedRun]:
    """Return the watched runs by name, all of their losses judged. Raises CurveError as `Setting.watch`."""
    watched: dict[str, WatchedRun] = {}
    previous: LoggedRun | None = None
    for run in runs:
        watched[run.name] = _watched(run, previous if run.number > 1 else None, setting)
        previous = run
    return watched


def said_of(runs: Mapping[str, WatchedRun]) -> list[str]:
    """Return a line for each reference, each lack of one and each wrong length, with the runs that it is about."""
    told: dict[str, list[str]] = {}
    for name, run in runs.items():
        for words in (*run.against, *filter(None, [run.beyond])):
            told.setdefault(words, []).append(name)
    if len(told) > MANY_LINES:
        return [f"{len(runs)} runs, held against the finished runs that fit each of them best"]
    return [f"{listed(names)}: {words}" for words, names in told.items()]


def in_order(losses: Losses) -> np.ndarray:
    """Return the indices (n,) in which losses are to be judged.

    Tables may hold one split after the other. Where no split goes back to an earlier step, steps tell the order, with
    validation behind training; where one does, a run was restarted, and the order is that of the log.
    """
    every = range(len(losses.splits))
    if any((np.diff(losses.step[losses.split == code]) < 0).any() for code in every):
        return np.arange(len(losses.step))
    held_out = np.array([is_validation(split) for split in losses.splits], dtype=bool)[losses.split]
    return np.lexsort((held_out, losses.step))


def _watched(run: LoggedRun, previous: LoggedRun | None, setting: Setting) -> WatchedRun:
    losses = run.losses
    before = []
    if previous is not None:
        before = [another_run(run.name, previous.name, int(previous.losses.step[-1]), int(losses.step[0]))]
    end = int(losses.step.argmax())
    length = setting.length(run.facts, float(losses.step[end]), float(losses.tokens[end]))
    length = max(float(losses.step[end]), 1.0) if length is None else length
    present = [split for code, split in enumerate(losses.splits) if (losses.split == code).any()]
    found = WatchedRun(
        lambda validation: setting.watch(run.name, validation, length, run.facts), splits=present, before=before
    )
    found.against += tuple(filter(None, [setting.why_alone(run.name, run.facts)]))
    for index in in_order(losses).tolist():
        found.take(losses.splits[losses.split[index]], float(losses.step[index]), float(losses.loss[index]))
    found.end()
    return found


def _runs_of_table(path: Path) -> tuple[LoggedRun, ...]:
    """Return the runs of a tidy table, training losses adjusted for the difficulty of their batches where known."""
    frame = read_curves(path)
    by_run: dict[str, list[Curve]] = {}
    for split in map(str, frame["split"].unique()):
        for curve in curves_of(frame, split, complete=True):
            by_run.setdefault(curve.run, []).append(curve)
    return tuple(_logged(by_run[run]) for run in map(str, frame["run"].unique()))


def _logged(curves: Sequence[Curve]) -> LoggedRun:
    """Return the curves of one run as if they came out of a log."""
    unknown = [np.full(len(curve.steps), np.nan) for curve in curves]
    losses = Losses(
        splits=tuple(curve.split for curve in curves),
        split=np.concatenate([np.full(len(curve.steps), code) for code, curve in enumerate(curves)]),
        step=np.concatenate([curve.steps for curve in curves]),
        loss=np.concatenate([adjusted_loss(curve.loss, curve.difficulty) for curve in curves]),
        lr=np.concatenate(unknown),
        tokens=np.concatenate([curve.tokens for curve in curves]),
    )
    return LoggedRun(curves[0].run, losses, curves[0].facts)
