"""The back-test's table: every family and sweep, both splits; what is refused is there without a value."""

from __future__ import annotations

import pandas as pd
import pytest

from scaling_collapse.config.scale import Analysis
from scaling_collapse.predict.methods import METHODS
from scaling_collapse.tables.back_test import FAMILY, SWEEP, back_test_table
from scaling_collapse.tables.groups import BACK_TEST, FAMILIES, SWEEPS
from tests.support import synthetic_curves as synthetic

CUTS = (0.15, 0.3, 0.6)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return back_test_table({name: synthetic.group(name) for name in BACK_TEST}, Analysis(), cuts=CUTS)


def test_every_run_progress_and_method_once(table: pd.DataFrame) -> None:
    keys = ["kind", "split", "family", "run", "progress", "method"]
    assert not table.duplicated(keys).any()
    assert set(table.method) == {"auto", *METHODS}
    assert set(table.progress) == set(CUTS)
    assert set(table.split) == {"train", "validation"}
    by_kind = table.groupby("kind").family.unique()
    assert set(by_kind[FAMILY]) == set(FAMILIES)
    assert set(by_kind[SWEEP]) == set(SWEEPS)


def test_families_are_predicted_from_their_smallest_run_and_sweeps_from_another_size(table: pd.DataFrame) -> None:
    families = table[(table.kind == FAMILY) & (table.split == "train")]
    assert families.template.str.startswith("132k").all()
    sweeps = table[table.kind == SWEEP]
    assert set(sweeps[sweeps.family.str.endswith("small")].template) == {"surrogate"}
    large = sweeps[sweeps.family.str.endswith("large")]
    assert large.template.str.startswith("132k").all()
    assert large.run.str.startswith("170k").all()


def test_errors_are_of_the_true_final_loss_and_small_where_curves_collapse(table: pd.DataFrame) -> None:
    known = table[table.predicted_final_loss.notna()]
    error = 100 * (known.predicted_final_loss / known.true_final_loss - 1)
    assert error.to_numpy() == pytest.approx(known.error_percent.to_numpy())
    chosen = known[(known.method == "auto") & (known.progress >= 0.3)]
    assert chosen.error_percent.abs().mean() < 0.5  # the noise of the curves
    assert 0.8 < chosen.covered.astype(float).mean() <= 1


def test_a_surrogate_is_silent_before_it_is_fitted(table: pd.DataFrame) -> None:
    early = table[(table.template == "surrogate") & (table.progress <= 0.2)]
    assert early.predicted_final_loss.isna().all()
    assert early.warnings.str.contains("begins at 20.0%|warm-up|point").all()
