"""The whole fit of a table: which runs are fitted, what is held out, what is left out, and the file of it all."""

from __future__ import annotations

import json
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from scaling_collapse.curves.table import checked
from scaling_collapse.errors import ConfigError, CurveError
from scaling_collapse.surrogate.form import PAPER, Form
from scaling_collapse.surrogate.published import PUBLISHED, published_of
from scaling_collapse.surrogate.stored import published_surrogate, read_surrogate, study_as_json, write_surrogate
from scaling_collapse.surrogate.study import SurrogateStudy, fit_study
from tests.unit.surrogate.support import TRUTH, equation_4, linear_rate, table_rows

SPLIT = "validation"  # not smoothed, so that exact curves stay exact
STEPS = np.arange(1, 101) / 100


def exact(run: str, size: str, tau: float, tpp: float, params: float = 5e3, **columns: Any) -> pd.DataFrame:
    """Rows of a run that follows Eq. 4 and 5 with known constants to the last digit."""
    b, q = TRUTH["b_c"] * tau ** TRUTH["b_e"], TRUTH["q_c"] * tpp ** TRUTH["q_e"]
    loss = 3 * equation_4(STEPS, linear_rate(STEPS), b, q)
    return table_rows(run, loss, SPLIT, **({"size": size, "tau": tau, "tpp": tpp, "size_params": params} | columns))


@cache
def table() -> pd.DataFrame:
    """Three runs of the smallest size, six of the middle one, two of the largest; one run does not decay."""
    runs = [exact(f"s{i}", "small", tau, 20, 1e3) for i, tau in enumerate((0.1, 0.2, 0.4))]
    runs += [exact(f"l{i}", "large", 0.2, tpp, 9e3) for i, tpp in enumerate((80, 1280))]
    runs += [exact(f"m{i}", "middle", *pair) for i, pair in enumerate(product((0.1, 0.2, 0.4), (20, 80)))]
    return checked(pd.concat([*runs, exact("c", "middle", 0.2, 20, lr=0.02)], ignore_index=True), "t")


@cache
def study() -> SurrogateStudy:
    return fit_study(table(), SPLIT, draws=20)


def test_the_smallest_size_with_enough_runs_is_fitted_and_its_constants_are_found() -> None:
    assert study().sizes == ("middle",)
    assert "5 or more runs" in study().choice
    assert sorted(study().fit.runs) == [f"m{i}" for i in range(6)]
    found = {constant.name: constant for constant in study().constants}
    for name, value in TRUTH.items():
        assert found[name].value == pytest.approx(value, rel=0.01), name
        assert found[name].verdict == "fitted"
        low, high = found[name].interval or (np.nan, np.nan)
        assert low - 1e-3 <= value <= high + 1e-3
    assert (found["m"].verdict, found["m"].reason, found["m"].interval) == ("fixed", "by the form", None)


def test_other_sizes_are_held_out_smallest_first_and_extrapolation_is_counted() -> None:
    assert [(e.size, e.runs, e.outside) for e in study().held_out] == [("small", 3, 0), ("large", 2, 1)]
    assert max(e.worst_percent for e in study().held_out) < 0.02


def test_runs_that_do_not_decay_are_left_out_and_taken_only_where_none_does() -> None:
    assert study().left_out == (("c", "its learning rate does not end at zero"),)
    constant = checked(pd.concat([exact(f"c{i}", "one", t, 20, lr=0.02) for i, t in enumerate((0.1, 0.2))]), "t")
    found = fit_study(constant, SPLIT, draws=0)
    assert sorted(found.fit.runs) == ["c0", "c1"]
    assert "no run decays to zero" in found.warnings[0]


def test_without_a_size_of_enough_runs_all_are_fitted() -> None:
    few = table()[table()["size"] != "middle"]
    found = fit_study(few, SPLIT, draws=0)
    assert found.sizes == ("small", "large")
    assert "none has 5 runs" in found.choice
    assert found.held_out == ()


def test_sizes_and_forms_that_are_not_there_name_those_that_are() -> None:
    with pytest.raises(
        ConfigError, match=r"no run of size 'huge'.*small \(3 runs\), middle \(6 runs\), large \(2 runs"
    ):
        fit_study(table(), SPLIT, ["huge"])
    with pytest.raises(ConfigError, match="paper, both_laws, free_decay"):
        fit_study(table(), SPLIT, form="mine")


def test_too_few_runs_have_no_intervals_and_say_so() -> None:
    found = fit_study(table(), SPLIT, ["large"], draws=20)
    assert all(constant.interval is None for constant in found.constants)
    assert any("no intervals: 2 run(s) are too few" in text for text in found.warnings)


def test_the_file_holds_the_constants_and_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "results" / "surrogate.json"
    write_surrogate(study(), path)
    record = json.loads(path.read_text(encoding="utf-8"))
    assert record == study_as_json(study())
    assert record["run_mae_percent"].keys() == set(study().fit.runs)
    found = read_surrogate(path)
    assert found.surrogate.b_c == pytest.approx(study().fit.surrogate.b_c, rel=1e-5)
    assert (found.tau_range, found.tpp_range, found.split) == ((0.1, 0.4), (20, 80), SPLIT)
    assert not found.foreign
    assert len(list(found.range_notes(tau=1.0, tpp=1280))) == 2
    assert [file.name for file in path.parent.iterdir()] == ["surrogate.json"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "there is no such file"),
        ("not json", "it is not what `collapse fit` writes"),
        ("[1, 2]", "it is not what `collapse fit` writes"),
        ('{"constants": {"b_c": {"value": 1}}}', "it is not what `collapse fit` writes"),
        ("nan", "a constant or a range is not a finite number"),
    ],
)
def test_any_other_file_is_one_line(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "s.json"
    if text == "nan":
        record = study_as_json(study())
        record["constants"]["q_c"]["value"] = float("nan")
        text = json.dumps(record)
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(CurveError, match=message) as caught:
        read_surrogate(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_published_constants_by_split() -> None:
    assert published_of(PAPER, "train") is PUBLISHED[(PAPER, "train")]
    assert published_of(PAPER, "val_c4") is PUBLISHED[(PAPER, "validation")]
    assert published_surrogate(PAPER, "train").foreign
    with pytest.raises(CurveError, match="no constants are published for this form"):
        published_of(Form(("b_c",)), "train")
