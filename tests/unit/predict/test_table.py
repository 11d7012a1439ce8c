"""Predictions from a tidy table, and everything that can be wrong with one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scaling_collapse.curves.table import checked
from scaling_collapse.errors import ConfigError, CurveError, ProjectError
from scaling_collapse.predict.table import predict_table, split_of, warmup_ends
from tests.unit.predict.support import family, grid, rows_of, template

TABLE = rows_of(family())


def broken(**columns: object) -> pd.DataFrame:
    """Return the table with some columns of run r2 changed."""
    table = TABLE.copy()
    for name, value in columns.items():
        table[name] = table[name].astype("object")
        table.loc[table["run"] == "r2", name] = value
    return table


def test_a_run_of_the_table_is_template_for_the_others() -> None:
    found = predict_table(checked(TABLE, "t"), "r0", at=0.3, siblings="smaller")
    assert [p.run for p in found] == ["r1", "r2", "r3"]
    assert [p.error_percent for p in found] == pytest.approx([0, 0, 0], abs=0.02)


def test_siblings_by_name_and_templates_by_run() -> None:
    found = predict_table(checked(TABLE, "t"), {f"r{i}": template() for i in range(4)}, at=0.3, siblings=["r0", "r1"])
    assert "2 finished sibling(s)" in found[3].reason
    assert "1 finished sibling(s)" in found[0].reason


def test_unknown_names_are_refused_with_the_nearest() -> None:
    for arguments in ({"template": "r00"}, {"template": "r0", "siblings": ["r11"]}):
        with pytest.raises(CurveError, match=r"there is no such run in the table\..*did you mean r"):
            predict_table(checked(TABLE, "t"), at=0.3, **arguments)  # type: ignore[arg-type]
    with pytest.raises(CurveError, match="no curve of split 'test'"):
        predict_table(checked(TABLE, "t"), "r0", at=0.3, split="test")
    with pytest.raises(ConfigError, match="there is no 'guess'"):
        predict_table(checked(TABLE, "t"), "r0", at=0.3, method="guess")


def test_the_split_must_be_clear() -> None:
    two = pd.concat([TABLE, TABLE.assign(split="other")])
    with pytest.raises(CurveError, match="there are 2 splits: validation, other"):
        split_of(two, None)
    assert split_of(two, "other") == "other"
    assert split_of(pd.concat([TABLE, TABLE.assign(split="train")]), None) == "train"


def test_warm_up_is_read_off_the_learning_rate() -> None:
    assert warmup_ends(TABLE) == pytest.approx(dict.fromkeys(["r0", "r1", "r2", "r3"], 0.1))
    climbing = TABLE[TABLE["tokens"] <= 0.05 * 2e9]
    assert warmup_ends(climbing)["r0"] == pytest.approx(0.05)
    assert warmup_ends(TABLE.assign(lr=0.01)) == dict.fromkeys(["r0", "r1", "r2", "r3"], 0.0)
    assert warmup_ends(TABLE.assign(lr=np.nan)) == {}


def test_a_part_within_warm_up_is_refused_and_says_until_when() -> None:
    found = predict_table(checked(TABLE, "t"), "r0", at=0.08)
    assert all(p.predicted_final_loss is None for p in found)
    assert "8.0% of training lie within warm-up, which ends at 10.0%" in found[0].warnings[0]
    unknown = predict_table(checked(TABLE.assign(lr=np.nan), "t"), "r0", at=0.08)
    assert any("may lie within warm-up" in text for text in unknown[0].warnings)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"loss": np.nan}, "column loss is empty"),
        ({"loss": -3.0}, "losses are positive and finite"),
        ({"loss": np.inf}, "losses are positive and finite"),
        ({"step": list(range(60, 0, -1))}, "does not increase"),
        ({"step": 5}, "does not increase"),
    ],
)
def test_a_broken_curve_is_one_line_that_names_the_run(columns: dict[str, object], message: str) -> None:
    with pytest.raises(ProjectError, match=message) as caught:
        predict_table(checked(broken(**columns), "curves.csv"), "r0", at=0.3)
    assert "\n" not in str(caught.value)


def test_a_curve_of_one_point_is_refused() -> None:
    single = pd.concat([TABLE[TABLE["run"] != "r2"], TABLE[TABLE["run"] == "r2"].head(1)])
    with pytest.raises(CurveError, match=r"r2 \(validation\) has one point"):
        predict_table(checked(single, "t"), "r0", at=0.3)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"loss": 3.0}, "its loss is 3 at every step"),
        ({"tpp": 0.0}, "tokens per parameter is 0"),
        ({"tau": 0.0}, "tau is 0"),
    ],
)
def test_a_constant_loss_and_negative_recipes_are_stated_refusals(columns: dict[str, object], message: str) -> None:
    refused = {p.run: p for p in predict_table(checked(broken(**columns), "t"), "r0", at=0.3)}
    assert refused["r2"].predicted_final_loss is None
    assert message in refused["r2"].warnings[0]
    assert refused["r1"].predicted_final_loss is not None


def test_missing_tau_and_tokens_leave_a_partial_answer() -> None:
    names = ["tau", "weight_decay"]
    no_tau = checked(TABLE.assign(**dict.fromkeys(names, np.nan)), "t")
    assert predict_table(no_tau, "r0", at=0.3)[0].error_percent == pytest.approx(0, abs=0.02)
    nothing = checked(TABLE.assign(tpp=np.nan, tokens_total=np.nan, tokens=np.nan), "t")
    with pytest.raises(CurveError, match="so neither is the fraction of training"):
        predict_table(nothing, "r0", at=0.3)
    found = predict_table(nothing, "r0", at=0.3, complete=True)[0]
    assert found.predicted_final_loss is not None
    assert any("tokens are not known" in text for text in found.warnings)


def test_a_shorter_run_is_predicted_at_its_own_progress() -> None:
    short = pd.concat([TABLE[TABLE["run"] != "r2"], TABLE[TABLE["run"] == "r2"].head(24)])
    found = {p.run: p for p in predict_table(checked(short, "t"), "r0")}
    assert found["r2"].progress == pytest.approx(grid()[23])
    assert found["r2"].true_final_loss is None
    assert found["r1"].method == "finished"
