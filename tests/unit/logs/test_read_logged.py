"""A finished log as it stands: what `read_logs` repairs or leaves out is there, told apart in the same way."""

from __future__ import annotations

import math

import pytest

from scaling_collapse.errors import LogError
from scaling_collapse.logs.options import Options
from scaling_collapse.logs.read import read_logged, read_logs
from tests.unit.logs.samples import SAMPLES


def logged(tmp_path, text, name="x.csv", **options):
    path = tmp_path / name
    path.write_text(text)
    return read_logged(path, Options(**options))


def pairs(run):
    return list(zip(run.losses.step.tolist(), run.losses.loss.tolist(), strict=True))


def test_nothing_is_repaired(tmp_path):
    rows = ["0,9", "1,8", "2,7", "3,nan", "2,6", "2,5", "3,4", "4,-1"]
    (run,) = logged(tmp_path, "\n".join(["step,loss", *rows])).runs
    steps, losses = zip(*pairs(run), strict=True)
    assert steps == (0, 1, 2, 3, 2, 2, 3, 4)
    assert math.isnan(losses[3])
    assert losses[:3] + losses[4:] == (9, 8, 7, 6, 5, 4, -1)


def test_runs_are_numbered_as_their_curves_are(tmp_path):
    text = "step,loss,val_loss,lr\n" + "\n".join(f"{s},{9 - s},{9.5 - s},.1" for s in (1, 2, 3, 1, 2))
    found = logged(tmp_path, text, tokens_per_step=10.0)
    assert [(run.name, run.number) for run in found.runs] == [("x", 1), ("x (2)", 2)]
    assert {curve.run for curve in read_logs([tmp_path / "x.csv"]).curves} == {"x", "x (2)"}
    second = found.runs[1]
    assert second.losses.splits == ("train", "validation")
    assert pairs(second) == [(1, 8), (1, 8.5), (2, 7), (2, 7.5)]
    assert second.losses.split.tolist() == [0, 1, 0, 1]
    assert second.facts["batch_tokens"] == 10
    one = logged(tmp_path, text, run="all")
    assert [(run.name, run.number, len(run.losses.step)) for run in one.runs] == [("all", 1, 10)]


@pytest.mark.parametrize("name", SAMPLES)
def test_every_format(name, tmp_path):
    sample = SAMPLES[name]
    found = logged(tmp_path, sample.text, "some.log")
    (run,) = found.runs
    for split, expected in (("train", sample.train), ("validation", sample.validation)):
        codes = [code for code, known in enumerate(run.losses.splits) if known == split]
        own = [pair for pair, code in zip(pairs(run), run.losses.split.tolist(), strict=True) if code in codes]
        assert [pair for pair in own if pair[0] >= 1] == expected
    assert {guess.what for guess in found.guesses} >= {"format"}


def test_guesses_and_notes_are_told(tmp_path):
    found = logged(tmp_path, "step,loss,aux_loss\n1,2,3\n2,x,3\n")
    assert {guess.what: guess.value for guess in found.guesses}["train"] == "column 'loss'"
    assert [note.what.partition(" ")[0] for note in found.notes] == ["unreadable", "other"]


def test_a_file_without_losses_is_refused(tmp_path):
    with pytest.raises(LogError, match=r"x.csv: no losses were recognised"):
        logged(tmp_path, "nothing of use\nhere\n")
    with pytest.raises(LogError, match="there is no such format"):
        logged(tmp_path, "step,loss\n1,2\n", format="cvs")
