"""Tables 11 and 12 on synthetic curves that follow the paper's form exactly but for noise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scaling_collapse.errors import CurveError
from scaling_collapse.surrogate.ablation import FORMS as ABLATIONS
from scaling_collapse.surrogate.data import curve_set
from scaling_collapse.surrogate.evaluate import mae_percent
from scaling_collapse.surrogate.fit import fit_surrogate
from scaling_collapse.surrogate.study import FORMS
from scaling_collapse.tables.table_11 import ALL, COLUMNS, table_11
from scaling_collapse.tables.table_12 import table_12
from tests.support import synthetic_curves as synthetic

RUNS = [
    synthetic.SyntheticRun(size, tpp, tau)
    for size, tpps, taus in (
        ("132k", (20, 80), (0.05, 0.1, 0.2, 0.4)),
        ("262k", (20, 80), (0.1, 0.2)),
        ("170k", (20,), (0.1, 0.6)),
    )
    for tpp in tpps
    for tau in taus
]
CONSTANT = synthetic.SyntheticRun("170k", 20, 0.2, "constant")


@pytest.fixture(scope="module")
def curves() -> pd.DataFrame:
    return pd.concat([synthetic.rows(run) for run in (*RUNS, CONSTANT)], ignore_index=True)


@pytest.fixture(scope="module")
def eleven(curves: pd.DataFrame) -> pd.DataFrame:
    return table_11(curves)


def test_sizes_and_bands_of_table_11(eleven: pd.DataFrame) -> None:
    assert tuple(eleven.columns) == COLUMNS
    assert list(dict.fromkeys(eleven.form)) == list(FORMS)
    paper = eleven[eleven.form == "paper"]
    expected = [("132k", ALL, 8), ("132k", "20", 4), ("132k", "80", 4), ("170k", ALL, 2), ("170k", "20", 2)]
    expected += [("262k", ALL, 4), ("262k", "20", 2), ("262k", "80", 2)]
    assert list(zip(paper["size"], paper.tpp, paper.runs, strict=True)) == expected
    assert set(paper[paper.fitted]["size"]) == {"132k"}
    assert dict(zip(paper["size"] + paper.tpp, paper.outside, strict=True))["170kall"] == 1  # tau .6


def test_errors_of_table_11_are_means_over_runs_and_small_where_the_form_is_right(
    curves: pd.DataFrame, eleven: pd.DataFrame
) -> None:
    used = curve_set(curves).decaying_to_zero()
    errors = mae_percent(fit_surrogate(used.of_size("132k")).surrogate, used)
    for size in ("132k", "170k", "262k"):
        row = eleven[(eleven.form == "paper") & (eleven["size"] == size) & (eleven.tpp == ALL)].iloc[0]
        own = errors[np.array(used.sizes) == size]
        assert row.mae_percent == pytest.approx(own.mean(), rel=0.05)
        assert row.worst_mae_percent == pytest.approx(own.max(), rel=0.05)
        assert row.mae_percent < 0.3  # noise: the curves are drawn from this form


def test_bands_average_to_the_size(eleven: pd.DataFrame) -> None:
    rows = eleven[(eleven.form == "free_decay") & (eleven["size"] == "262k")].set_index("tpp")
    mean = (rows.mae_percent["20"] * rows.runs["20"] + rows.mae_percent["80"] * rows.runs["80"]) / rows.runs[ALL]
    assert rows.mae_percent[ALL] == pytest.approx(mean)


def test_table_12_fits_one_size_and_tests_the_larger_ones(curves: pd.DataFrame) -> None:
    table = table_12(curves).set_index("form")
    assert list(table.index[:-1]) == list(ABLATIONS)
    assert set(table.fitted_sizes) == {"132k"}
    assert set(table.tested_sizes) == {"170k 262k"}
    assert set(table.fitted_runs) == {8}
    assert set(table.tested_runs) == {6}
    both, fixed = "b = PL(tau), q = PL(TPP)", "b, q fixed"
    assert table.tested_mae_percent[both] < table.tested_mae_percent[fixed]  # the curves follow both laws
    assert table.fitted_mae_percent.min() == table.fitted_mae_percent["oracle per curve"]


def test_table_12_needs_a_larger_size(curves: pd.DataFrame) -> None:
    with pytest.raises(CurveError, match="no size is larger than 132k"):
        table_12(curves[curves["size"] == "132k"])
