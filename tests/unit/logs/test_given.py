from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scaling_collapse.errors import CurveError, LogError
from scaling_collapse.logs.given import assumed_finished, is_tidy, listed, read_given
from scaling_collapse.logs.options import Options
from tests.unit.curves.support import rows

LOSS = np.linspace(4, 3, 20)
LOG = "".join(f"iter {step}: loss {5 - step / 10:.4f}, time 1.00ms, mfu 1.00%\n" for step in range(1, 21))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows("a", LOSS).to_csv("a.csv", index=False)
    rows("b", LOSS).to_parquet("b.parquet")
    Path("c.log").write_text(LOG)
    return tmp_path


def test_tables_are_known_by_their_columns(folder: Path) -> None:
    pd.DataFrame({"step": [1, 2], "loss": [3.0, 2.0]}).to_csv("log.csv", index=False)
    pd.DataFrame({"run": "x", "step": [1, 2], "loss": [3.0, 2.0], "split": "train"}).to_csv("slim.csv", index=False)
    Path("text.parquet").write_text("no parquet")
    known = {path: is_tidy(Path(path)) for path in ("a.csv", "b.parquet", "c.log", "log.csv", "slim.csv")}
    assert known == {"a.csv": True, "b.parquet": True, "c.log": False, "log.csv": False, "slim.csv": False}
    assert not is_tidy(Path("text.parquet"))
    assert not is_tidy(Path("nothing.csv"))


def test_a_table_is_read_as_it_is(folder: Path) -> None:
    found = read_given([Path("a.csv")])
    assert found.frame["tokens_total"].iloc[0] == 2e4
    assert found.said == ()


def test_tables_and_logs_become_one_table_and_guesses_are_told(folder: Path) -> None:
    found = read_given([Path("a.csv"), Path("c.log"), Path("b.parquet")])
    assert list(found.frame["run"].unique()) == ["a", "b", "c"]
    (line,) = found.said
    assert line.startswith("c.log: guessed format: nanogpt; train: column")


def test_logs_alike_are_told_in_one_line_and_options_hold(folder: Path) -> None:
    for name in "defghi":
        Path(f"{name}.log").write_text(LOG)
    found = read_given([Path(f"{name}.log") for name in "cdefghi"], Options(format="nanogpt"))
    (line,) = found.said
    assert line.startswith("c.log, d.log, e.log, f.log, g.log and 2 more: guessed train: ")


def test_steps_of_losses_that_are_no_numbers_are_kept(folder: Path) -> None:
    Path("c.log").write_text(LOG + "".join(f"iter {step}: loss nan, time 1.00ms\n" for step in (21, 22, 23)))
    found = read_given([Path("c.log")])
    assert found.not_finite[("c", "train")].tolist() == [21, 22, 23]
    assert found.frame["step"].max() == 20
    assert any("3 NaN or infinite losses, left out" in line for line in found.said)
    assert read_given([Path("a.csv")]).not_finite == {}


def test_a_run_that_two_files_have_is_an_error(folder: Path) -> None:
    rows("b", LOSS).to_csv("again.csv", index=False)
    with pytest.raises(CurveError, match=r"again.csv: run b is in b.parquet too. Fix: give each run once"):
        read_given([Path("b.parquet"), Path("again.csv")])


def test_a_table_that_lacks_a_column_says_so_and_is_not_read_as_a_log(folder: Path) -> None:
    rows("a", LOSS).drop(columns="seed").to_csv("a.csv", index=False)
    with pytest.raises(CurveError, match=r"a.csv: column seed is missing"):
        read_given([Path("a.csv")])


def test_files_that_hold_no_losses_are_named(folder: Path) -> None:
    with pytest.raises(LogError, match=r"nothing.csv: cannot be read"):
        read_given([Path("nothing.csv")])


def test_runs_of_unknown_length_are_named(folder: Path) -> None:
    assert assumed_finished(read_given([Path("a.csv")]).frame) == ()
    (line,) = assumed_finished(read_given([Path("a.csv"), Path("c.log")]).frame)
    assert line.endswith("not known: c")


def test_what_is_neither_is_refused(folder: Path) -> None:
    Path("broken.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LogError, match=r"broken.csv"):
        read_given([Path("broken.csv")])


def test_long_lists_are_cut() -> None:
    assert listed(list("abcdefg")) == "a, b, c, d, e and 2 more"
