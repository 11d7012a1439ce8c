from __future__ import annotations

import numpy as np
import pytest

from scaling_collapse.report.members import members_of
from tests.unit.report.support import family, run


def unknown_length(name: str, **columns):  # type: ignore[no-untyped-def]
    return run(name, tokens_total=np.nan, tpp=np.nan, status="", **columns).assign(tokens=np.nan)


def test_finished_unfinished_and_diverged_runs_are_told_apart():
    frame = family(middle=run("middle", until=0.4), large=run("large", until=0.6, status="diverged"))
    members, missing = members_of(frame, "train")
    assert [(m.run, m.finished, m.in_progress, m.diverged) for m in members] == [
        ("small", True, False, False),
        ("middle", False, True, False),
        ("large", False, False, True),
    ]
    assert missing == []


def test_a_run_of_unknown_length_is_shown_and_the_reason_and_the_fix_are_told():
    frame = family(large=unknown_length("large"))
    members, (missing,) = members_of(frame, "train")
    assert [member.length_known for member in members] == [True, True, False]
    assert not members[2].finished
    assert not members[2].in_progress
    assert missing.what == "large"
    assert "tokens or tokens_total are not known" in missing.why
    assert "--complete" in missing.fix
    complete, nothing = members_of(frame, "train", complete=True)
    assert complete[2].finished
    assert nothing == []


def test_a_run_without_the_split_is_left_out_by_name():
    frame = family(large=run("large").assign(split="other"))
    members, (missing,) = members_of(frame, "train")
    assert [member.run for member in members] == ["small", "middle"]
    assert (missing.what, missing.why) == ("large", "there is no curve of split 'train'")


def test_a_run_that_saw_more_than_its_tokens_is_left_out_by_name():
    members, (missing,) = members_of(family(large=run("large", tokens_total=2e5)), "train")
    assert [member.run for member in members] == ["small", "middle"]
    assert missing.why == "it saw 400000 tokens, more than its total of 200000"


def test_validation_losses_come_along_and_losses_that_are_no_numbers():
    held_out = run("small").iloc[19::20].assign(split="validation")
    frame = family(held_out=held_out)
    lost = {("small", "train"): np.array([401.0]), ("small", "validation"): np.array([5.0])}
    members, _ = members_of(frame, "train", not_finite=lost)
    assert len(members[0].validation.loss) == 20
    assert members[1].validation is None
    assert members[0].not_finite.tolist() == [401.0]
    alone, _ = members_of(frame, "validation")
    assert [member.validation for member in alone] == [None]


def test_a_run_becomes_diverged_with_its_line():
    members, _ = members_of(family(), "train")
    gone = members[0].as_diverged()
    assert gone.diverged
    assert not gone.finished
    assert not gone.line.finished
    assert members[0].line.normalised[-1] == pytest.approx(1)
