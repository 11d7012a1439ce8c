"""Restarts, second runs, duplicates and disorder, against a slow statement of the rule, for whole and growing logs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaling_collapse.logs.repair import repair, runs_in
from scaling_collapse.logs.tracker import Event, Tracker

#: What stays of a run: the index of the row that counts, by (split, step).
Kept = dict[tuple[int, int], int]


def by_the_rule(rows: list[tuple[int, int]], one_run: bool) -> list[Kept]:
    """The rule of repair.py, word for word, on (split, step) rows."""
    stretches: list[list[int]] = []
    for i, (_, step) in enumerate(rows):
        if i == 0 or step < rows[i - 1][1]:
            stretches.append([])
        stretches[-1].append(i)
    runs: list[list[tuple[list[int], bool]]] = [[]]
    for stretch in stretches:
        before = [i for earlier, _ in runs[-1] for i in earlier]
        again = bool({rows[i] for i in before} & {rows[i] for i in stretch})
        begin = rows[stretch[0]][1]
        if again and not one_run and begin <= min(rows[i][1] for i in before):
            runs.append([(stretch, False)])
        else:
            runs[-1].append((stretch, again))
    result = []
    for run in runs:
        kept: Kept = {}
        for stretch, restart in run:
            if restart:
                kept = {place: i for place, i in kept.items() if place[1] <= rows[stretch[0]][1]}
            kept |= {rows[i]: i for i in stretch}
        result.append(kept)
    return result


def by_repair(rows: list[tuple[int, int]], one_run: bool) -> list[Kept]:
    split, step = (np.array([row[k] for row in rows], dtype=np.int64) for k in (0, 1))
    runs = repair(step, split, np.arange(len(rows), dtype=float), one_run)
    kept = []
    for run in runs:
        for indices in run.keep.values():
            assert (np.diff(step[indices]) > 0).all()
        everything = [int(i) for indices in run.keep.values() for i in indices]
        kept.append({rows[i]: i for i in everything})
        assert len(kept[-1]) == len(everything)
    return kept


def by_tracker(rows: list[tuple[int, int]], one_run: bool) -> list[Kept]:
    """Keep what a user of Tracker keeps who does what its events say."""
    tracker, runs = Tracker(one_run), [[]]
    for i, (split, step) in enumerate(rows):
        event = tracker.see(str(split), step)
        runs[-1].append(i)
        if event is Event.ON:
            continue
        new, old = runs[-1][-tracker.stretch :], runs[-1][: -tracker.stretch]
        if event is Event.NEW_RUN:
            runs[-1:] = [old, new]
        else:
            runs[-1] = [j for j in old if rows[j][1] <= tracker.start] + new
    return [{rows[i]: i for i in run} for run in runs]


logs = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 9)), min_size=1, max_size=25)


@given(logs, st.booleans())
@settings(max_examples=400, deadline=None)
def test_any_log_is_repaired_by_the_rule(rows, one_run):
    expected = by_the_rule(rows, one_run)
    assert by_repair(rows, one_run) == expected
    assert by_tracker(rows, one_run) == expected


@given(logs, st.booleans())
@settings(max_examples=200, deadline=None)
def test_every_row_is_kept_or_counted(rows, one_run):
    split, step = (np.array([row[k] for row in rows], dtype=np.int64) for k in (0, 1))
    parts = runs_in(step, split, one_run)
    assert [i for part in parts for i in range(len(rows))[part]] == list(range(len(rows)))
    for run, part in zip(repair(step, split, np.zeros(len(rows)), one_run), parts, strict=True):
        assert all(part.start <= i < part.stop for indices in run.keep.values() for i in indices)
        kept = sum(map(len, run.keep.values()))
        assert run.differing == 0
        assert run.taken_back >= 0 <= run.duplicates
        assert kept + run.taken_back + run.duplicates <= len(rows)
    total = [sum(map(len, r.keep.values())) + r.taken_back + r.duplicates for r in repair(step, split, step, one_run)]
    assert sum(total) == len(rows)


def one(steps: list[int], losses: list[float] | None = None):
    step = np.array(steps)
    loss = np.arange(len(step), dtype=float) if losses is None else np.array(losses)
    (run,) = repair(step, np.zeros(len(step), dtype=int), loss)
    return run


def test_the_parts_of_a_log_that_are_a_run_each():
    rows = [1, 2, 3, 2, 3, 4, 1, 2, 3, 1]
    step = np.array(rows)
    assert runs_in(step, np.zeros(10, dtype=int)) == [slice(0, 6), slice(6, 9), slice(9, 10)]
    assert runs_in(step, np.zeros(10, dtype=int), one_run=True) == [slice(0, 10)]


def test_a_restart_from_a_checkpoint():
    run = one([*range(1, 501), *range(450, 601)])
    assert run.keep[0].tolist() == [*range(449), *range(500, 651)]
    assert run.restarts == ((450, 500),)
    assert run.taken_back == 51


def test_a_restart_that_died_early_does_not_keep_the_abandoned_branch():
    run = one([10, 20, 30, 40, 20, 30])
    assert run.keep[0].tolist() == [0, 4, 5]


def test_a_late_line_is_sorted_in():
    run = one([1, 2, 4, 3, 5])
    assert run.keep[0].tolist() == [0, 1, 3, 2, 4]
    assert (run.disordered, run.restarts, run.taken_back) == (1, (), 0)


def test_every_rank_prints():
    run = one([1, 1, 2, 2, 3, 3], [5.0, 5.0, 4.0, 4.5, 3.0, 3.0])
    assert run.keep[0].tolist() == [1, 3, 5]
    assert (run.duplicates, run.differing) == (3, 1)


def test_validation_at_the_step_of_the_checkpoint_stays():
    step = np.array([1, 2, 3, 4, 2, 3, 4, 5])
    split = np.array([0, 1, 0, 1, 0, 0, 1, 0])
    (run,) = repair(step, split, np.zeros(8))
    assert run.keep[1].tolist() == [1, 6]  # step 2 was not evaluated again, step 4 was


def test_two_runs_in_one_file():
    step = np.array([0, 1, 2, 3, 0, 1, 2, 0, 1])
    runs = repair(step, np.zeros(9, dtype=int), np.zeros(9))
    assert [run.keep[0].tolist() for run in runs] == [[0, 1, 2, 3], [4, 5, 6], [7, 8]]
    (run,) = repair(step, np.zeros(9, dtype=int), np.zeros(9), one_run=True)
    assert run.keep[0].tolist() == [7, 8]


@pytest.mark.parametrize("order", ["shuffled", "reversed", "saw"])
def test_hopeless_order_takes_linear_time(order):
    step = np.arange(200_000)
    if order == "shuffled":
        np.random.default_rng(0).shuffle(step)
    elif order == "reversed":
        step = step[::-1].copy()
    else:
        step = step // 2 - 3 * (step % 2)
    runs = repair(step, np.zeros(len(step), dtype=int), step.astype(float))
    assert sum(len(run.keep[0]) + run.taken_back + run.duplicates for run in runs) == len(step)
