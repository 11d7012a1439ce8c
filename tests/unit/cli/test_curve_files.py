from __future__ import annotations

import pytest

from scaling_collapse.cli.curve_files import assumed_finished, is_tidy, listed, read_files
from scaling_collapse.errors import CurveError, LogError
from tests.unit.cli.watch_support import healthy, write
from tests.unit.predict.support import family, rows_of

TABLE = rows_of(family())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("t.csv", index=False)
    TABLE.to_parquet("t.parquet")
    write(tmp_path / "a.log", healthy())
    write(tmp_path / "b.log", healthy(1))
    (tmp_path / "steps.csv").write_text("step,loss\n1,3\n2,2\n")
    (tmp_path / "broken.csv").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 no")
    return tmp_path


def test_tables_are_told_from_logs_by_their_columns(folder):
    names = ["t.csv", "t.parquet", "a.log", "steps.csv", "broken.csv", "broken.parquet", "none.csv"]
    assert [is_tidy(folder / name) for name in names] == [True, True, False, False, False, False, False]


def test_a_table_is_read_as_it_is(folder):
    found = read_files([folder / "t.csv"])
    assert found.said == ()
    assert assumed_finished(found.frame) == ()
    assert found.frame["run"].unique().tolist() == ["r0", "r1", "r2", "r3"]


def test_tables_and_logs_become_one_table_and_guesses_are_said(folder):
    found = read_files([folder / "a.log", folder / "t.parquet", folder / "b.log"])
    assert set(found.frame["run"]) == {"r0", "r1", "r2", "r3", "a", "b"}
    (line,) = found.said
    assert line == f"{folder}/a.log, {folder}/b.log: guessed format: nanogpt; train: column 'train loss'"
    (assumed,) = assumed_finished(found.frame)
    assert assumed.endswith("not known: a, b")


def test_what_was_left_out_is_said(folder):
    write(folder / "nan.log", [*healthy()[:50], (51, float("nan"))])
    said = read_files([folder / "nan.log"]).said
    assert said[1].endswith("nan.log: 1 NaN or infinite loss, left out (nan at step 51)")


def test_a_run_may_be_given_once(folder):
    with pytest.raises(CurveError, match=r"t.parquet: run r0 is in .*t.csv too"):
        read_files([folder / "t.csv", folder / "t.parquet"])


def test_what_is_neither_is_refused(folder):
    with pytest.raises(LogError, match=r"broken.csv"):
        read_files([folder / "broken.csv"])


def test_long_lists_are_cut():
    assert listed(list("abcdefg")) == "a, b, c, d, e and 2 more"
