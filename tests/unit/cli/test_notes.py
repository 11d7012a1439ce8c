"""Warnings of many runs, merged."""

from __future__ import annotations

from scaling_collapse.cli.notes import Notes


def test_alike_warnings_become_one_with_the_range_of_their_numbers() -> None:
    notes = Notes.of(
        {
            "190M-5xC": ["tau is 0.2 times that of 190M-1xC (tolerated: 1.25)"],
            "190M-10xC": ["tau is 0.1 times that of 190M-1xC (tolerated: 1.25)", "it stops early"],
            "1B-0.5xC": ["tau is 2 times that of 190M-1xC (tolerated: 1.25)"],
            "190M-1xC-rerun": [],
        }
    )
    assert notes.texts == (
        ("tau is 0.1 to 2 times that of 190M-1xC (tolerated: 1.25)", ("190M-5xC", "190M-10xC", "1B-0.5xC")),
        ("it stops early", ("190M-10xC",)),
    )
    assert [notes.letters(run) for run in ("190M-5xC", "190M-10xC", "190M-1xC-rerun")] == ["a", "a b", ""]


def test_the_runs_own_name_is_not_said_twice() -> None:
    (entry,) = Notes.of({"r1": ["r1: its loss is 3 at every step"], "r2": ["r2: its loss is 4 at every step"]}).texts
    assert entry == ("its loss is 3 to 4 at every step", ("r1", "r2"))


def test_signs_and_percentages_are_numbers_too() -> None:
    texts = {"a": ["its interval is +-0.83%, off by -2.5"], "b": ["its interval is +-3.2%, off by +1e-3"]}
    ((text, _),) = Notes.of(texts).texts
    assert text == "its interval is +-0.83 to 3.2%, off by -2.5 to +1e-3"


def test_no_warnings_are_nothing() -> None:
    assert not Notes.of({"r1": [], "r2": []})
