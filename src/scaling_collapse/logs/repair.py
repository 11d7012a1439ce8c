"""Restarts, repeated runs, duplicates and disorder: what holds of the losses of one run name, given in log order.

A drop of the step opens a new stretch of the log. If the stretch writes a (split, step) that the run had written
before, it is

- another run, if it begins at or before the run's first step (unless the user said that all is one run);
- a restart otherwise: what the run had written of later steps is taken back.

A stretch that writes nothing again is disorder: its losses are sorted in. Of a (split, step) that is written several
times the last one counts. `follow.Tracker` keeps the same rule for a growing log.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np


@dataclass(frozen=True)
class Repaired:
    """One run. `keep[split]` are indices into the log's losses, by increasing step.

    `restarts` are (step that the log went back to, last step before). `taken_back` counts losses that restarts
    overwrote, `duplicates` those written twice in one stretch (`differing` of them with another loss), `disordered`
    the places within a split where the step fell and was sorted in.
    """

    keep: dict[int, np.ndarray]
    restarts: tuple[tuple[int, int], ...]
    taken_back: int
    duplicates: int
    differing: int
    disordered: int


def repair(step: np.ndarray, split: np.ndarray, loss: np.ndarray, one_run: bool = False) -> list[Repaired]:
    """Return the runs among losses of shape (n,) that come in log order; `split` holds small whole numbers."""
    starts, begins, again = _stretches(step, split, one_run)
    ends = [*begins[1:], len(starts)]
    edges = np.append(starts, len(step))
    runs = []
    for begin, end in zip(begins, ends, strict=True):
        part = slice(edges[begin], edges[end])
        inner = starts[begin:end] - edges[begin]
        run = _one_run(step[part], split[part], loss[part], inner, again[begin:end])
        keep = {code: indices + edges[begin] for code, indices in run.keep.items()}
        runs.append(Repaired(keep, run.restarts, run.taken_back, run.duplicates, run.differing, run.disordered))
    return runs


def runs_in(step: np.ndarray, split: np.ndarray, one_run: bool = False) -> list[slice]:
    """Return where each run of a log lies, as `repair` tells them apart, with nothing repaired."""
    starts, begins, _ = _stretches(step, split, one_run)
    edges = [*(int(starts[begin]) for begin in begins), len(step)]
    return [slice(first, stop) for first, stop in pairwise(edges)]


def _stretches(step: np.ndarray, split: np.ndarray, one_run: bool) -> tuple[np.ndarray, list[int], np.ndarray]:
    """Return the first index of each stretch, the stretches at which runs begin, and which of all are restarts."""
    starts = np.flatnonzero(np.diff(step, prepend=step[:1]) < 0)
    starts = np.concatenate([[0], starts])
    begins, again = _runs(step[starts], starts, _last_earlier(step, split, starts), one_run)
    return starts, begins, again


def _last_earlier(step: np.ndarray, split: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return for each stretch the last index before it of a (split, step) that it writes again; -1 if there is none."""
    latest = np.full(len(starts), -1)
    if len(starts) == 1:
        return latest
    stretch = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(step))))
    order = np.lexsort((step, split))  # stable: equal pairs stay in log order
    same = (np.diff(step[order]) == 0) & (np.diff(split[order]) == 0) & (np.diff(stretch[order]) > 0)
    before, after = order[:-1][same], order[1:][same]
    np.maximum.at(latest, stretch[after], before)
    return latest


def _runs(first: np.ndarray, starts: np.ndarray, earlier: np.ndarray, one_run: bool) -> tuple[list[int], np.ndarray]:
    """Return the stretches at which runs begin, and for each stretch whether it is a restart."""
    begins, lowest = [0], int(first[0]) if len(first) else 0
    restart = np.zeros(len(starts), dtype=bool)
    for stretch in range(1, len(starts)):
        begin = int(first[stretch])
        if earlier[stretch] < starts[begins[-1]]:
            lowest = min(lowest, begin)
        elif begin <= lowest and not one_run:
            begins.append(stretch)
            lowest = begin
        else:
            restart[stretch] = True
            lowest = min(lowest, begin)
    return begins, restart


def _one_run(
    step: np.ndarray, split: np.ndarray, loss: np.ndarray, starts: np.ndarray, restart: np.ndarray
) -> Repaired:
    held = np.arange(len(step))
    restarts: tuple[tuple[int, int], ...] = ()
    stretch = np.broadcast_to(np.int64(0), len(step))
    if len(starts) > 1:
        lengths = np.diff(np.append(starts, len(step)))
        stretch = np.repeat(np.arange(len(starts)), lengths)
        highest = np.iinfo(np.int64).max
        returns = np.append(np.where(restart, step[starts], highest)[1:], highest)  # of the next stretch
        limit = np.minimum.accumulate(returns[::-1])[::-1]
        held = np.flatnonzero(step <= limit[stretch])
        before = np.maximum.accumulate(step)
        restarts = tuple((int(step[s]), int(before[s - 1])) for s in starts[restart])
    taken_back, duplicates, differing, disordered = len(step) - len(held), 0, 0, 0
    keep = {}
    for code, places in grouped(split[held]):
        indices = held[places]
        falls = int((np.diff(step[indices]) < 0).sum())
        disordered += falls
        if falls:
            indices = indices[np.argsort(step[indices], kind="stable")]
        same = np.diff(step[indices]) == 0
        rewritten = same & (np.diff(stretch[indices]) > 0)
        differs = np.diff(loss[indices]) != 0
        taken_back += int(rewritten.sum())
        duplicates += int((same & ~rewritten).sum())
        differing += int((same & ~rewritten & differs).sum())
        keep[code] = indices[np.append(~same, True)]
    return Repaired(keep, restarts, taken_back, duplicates, differing, disordered)


def grouped(codes: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """Return (code, its indices in increasing order), the codes in the order in which they come first."""
    if len(codes) and (codes == codes[0]).all():
        return [(int(codes[0]), np.arange(len(codes)))]
    order = np.argsort(codes, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1) if len(codes) else []
    return [(int(codes[part[0]]), part) for part in sorted(parts, key=lambda part: int(part[0]))]
