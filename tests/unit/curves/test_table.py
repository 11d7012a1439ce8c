from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scaling_collapse.curves.table import COLUMNS, COMMON_COLUMNS, checked, choose_runs, read_curves, write_table
from scaling_collapse.errors import CurveError
from tests.unit.curves.support import PUBLIC, rows

GOOD = pd.concat([rows("a", np.linspace(4, 3, 10)), rows("b", np.linspace(4, 3, 10))], ignore_index=True)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_written_tables_read_the_same(tmp_path, suffix):
    path = tmp_path / "deep" / f"curves{suffix}"
    write_table(checked(GOOD, "here"), path)
    pd.testing.assert_frame_equal(read_curves(path), checked(GOOD, "here"))
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_foreign_table_needs_only_four_columns_filled(tmp_path):
    foreign = GOOD.assign(tokens=None, lr=None, seed=None, batch_tokens=None, schedule=None, comment="mine")
    foreign.to_csv(tmp_path / "foreign.csv", index=False)
    table = read_curves(tmp_path / "foreign.csv")
    assert list(table.columns) == list(COMMON_COLUMNS)
    assert table["tokens"].isna().all()
    assert (table["schedule"] == "").all()


def test_columns_come_in_the_order_of_the_schema():
    shuffled = GOOD[sorted(GOOD.columns)].assign(tau=0.2, status="finished")
    assert list(checked(shuffled, "here").columns) == [c for c in COLUMNS if c in shuffled.columns]


def broken(column, row, value):
    table = GOOD.copy().astype({column: object})
    table.loc[row, column] = value
    return table


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (broken("loss", 3, np.nan), "column loss is empty .* in row 3"),
        (broken("loss", 3, np.inf), r"run a \(train\) has loss inf at step 4"),
        (broken("loss", 13, -0.1), r"run b \(train\) has loss -0.1 at step 4"),
        (broken("loss", 3, "high"), "column loss must hold numbers"),
        (broken("step", 3, 3), "run a .* step 3 is below 1 or does not increase"),
        (broken("step", 3, 1), "step 1 is below 1 or does not increase"),
        (broken("step", 0, 0), "step 0 is below 1"),
        (broken("step", 3, 3.5), "whole numbers, row 3 has 3.5"),
        (broken("step", 3, None), "column step is empty"),
        (broken("tokens", 3, 1000.0), "tokens 1000 is below 0 or does not increase"),
        (broken("run", 3, None), "column run is empty"),
        (broken("size_params", 3, 2e5), "run a is described in two ways"),
        (GOOD.drop(columns=["split", "seed"]), "column split, seed is missing"),
        (GOOD.iloc[:11], r"run b \(train\) has one point"),
        (GOOD.iloc[:0], "no rows"),
    ],
)
def test_bad_tables_are_one_line_errors(table, message):
    with pytest.raises(CurveError, match=message) as caught:
        checked(table, "curves.csv")
    assert str(caught.value).startswith("curves.csv: ")
    assert "\n" not in str(caught.value)


def test_bad_files_are_one_line_errors(tmp_path):
    with pytest.raises(CurveError, match="no such file"):
        read_curves(tmp_path / "none.csv")
    with pytest.raises(CurveError, match=r"\.csv or \.parquet"):
        read_curves(tmp_path / "curves.xlsx")
    for name in ("empty.csv", "empty.parquet"):
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(CurveError, match="not a readable"):
            read_curves(tmp_path / name)
    (tmp_path / "binary.csv").write_bytes(bytes(range(128, 256)) * 20)
    with pytest.raises(CurveError, match=r"binary\.csv"):
        read_curves(tmp_path / "binary.csv")


def test_unknown_runs():
    table = checked(GOOD.replace({"run": {"a": "132k-tpp20-s0"}}), "here")
    assert set(choose_runs(table, ["b"])["run"]) == {"b"}
    with pytest.raises(CurveError, match="did you mean 132k-tpp20-s0"):
        choose_runs(table, ["132k-tpp20-s1"])


def test_a_failed_write_leaves_the_old_table(tmp_path, monkeypatch):
    path = tmp_path / "curves.parquet"
    write_table(GOOD, path)
    before = path.read_bytes()

    def fail(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_table(GOOD.iloc[:4], path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["gemstones", "mpl", "olmo_ladder_c4"])
def test_public_curves_read(name):
    path = PUBLIC / f"{name}.csv"
    if not path.exists():
        pytest.skip("public curves are not beside this checkout")
    raw = pd.read_csv(path)
    table = read_curves(path)
    assert len(table) == len(raw)
    assert table["run"].nunique() == raw["run"].nunique()
