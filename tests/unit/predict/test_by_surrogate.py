"""Predictions with a surrogate as template, on curves that follow it exactly, or miss it by a known amount."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from scaling_collapse.curves.table import checked
from scaling_collapse.predict.by_surrogate import predict_with_surrogate
from scaling_collapse.predict.surrogate_template import MAE_OF_WALK
from scaling_collapse.surrogate.form import Surrogate
from scaling_collapse.surrogate.stored import StoredSurrogate
from tests.unit.surrogate.support import TRUTH, equation_4, linear_rate, table_rows

OWN = StoredSurrogate(Surrogate(**TRUTH), 0.1, (0.1, 0.4), (20.0, 80.0))
STEPS = np.arange(1, 201) / 200
FINAL = 3.0


def rows(
    run: str, tau: float = 0.2, tpp: float = 20.0, error: np.ndarray | float = 0.0, **columns: Any
) -> pd.DataFrame:
    b, q = TRUTH["b_c"] * tau ** TRUTH["b_e"], TRUTH["q_c"] * tpp ** TRUTH["q_e"]
    loss = FINAL * (equation_4(STEPS, linear_rate(STEPS), b, q) + error)
    return table_rows(run, loss, "validation", **({"tau": tau, "tpp": tpp} | columns))


def table(*parts: pd.DataFrame) -> pd.DataFrame:
    return checked(pd.concat(parts, ignore_index=True), "t")


TABLE = table(rows("a"), rows("b", tau=0.4, tpp=80.0), rows("c", tau=0.1, tpp=40.0, size_params=2e4))


@pytest.mark.parametrize("at", [0.25, 0.3, 0.6])
def test_curves_of_the_surrogate_are_predicted_exactly(at: float) -> None:
    found = predict_with_surrogate(TABLE, OWN, at)
    assert [p.run for p in found] == ["a", "b", "c"]
    assert [p.predicted_final_loss for p in found] == pytest.approx([FINAL] * 3, rel=2e-4)
    assert not any(p.warnings for p in found)


def test_before_the_fitted_range_there_is_no_prediction() -> None:
    """Section 2: the fits leave out the first 20% of training."""
    found = predict_with_surrogate(TABLE, OWN, 0.15)
    assert all(p.predicted_final_loss is None for p in found)
    assert "its 15.0% of training end before surrogate, the template, begins at 20.0%" in found[0].warnings[0]


def test_siblings_are_tried_with_their_own_templates() -> None:
    """With the template of run a, run c (another tau and TPP) would be off, and would spoil a."""
    found = {p.run: p for p in predict_with_surrogate(TABLE, OWN, 0.3, siblings=["b", "c"])}
    assert found["a"].predicted_final_loss == pytest.approx(FINAL, rel=2e-4)
    assert "2 finished sibling(s); siblings correct it by +0.0" in found["a"].reason.replace("-0.0", "+0.0")


def test_runs_without_tau_or_schedule_say_so_and_the_others_are_predicted() -> None:
    unknown = rows("no tau").assign(tau=np.nan, weight_decay=np.nan)
    nameless = rows("no schedule", lr=np.nan, schedule="mine")
    found = {p.run: p for p in predict_with_surrogate(table(rows("a"), unknown, nameless), OWN, 0.3)}
    assert found["a"].predicted_final_loss is not None
    assert "its tau or tokens per parameter is not known" in found["no tau"].reason
    assert "its schedule 'mine' is not one that is known" in found["no schedule"].reason


def test_extrapolation_other_losses_and_other_families_are_warned_of() -> None:
    far = table(rows("far", tau=1.0, tpp=320.0))
    (prediction,) = predict_with_surrogate(far, OWN, 0.3)
    assert [text.split()[0] for text in prediction.warnings] == ["tau", "TPP"]
    (prediction,) = predict_with_surrogate(table(rows("a")), replace(OWN, split="train"), 0.3)
    assert prediction.warnings == ("the surrogate was fitted to train losses, these are validation losses",)


def test_the_interval_of_another_familys_surrogate_reaches_from_no_fall_to_twice_the_fall() -> None:
    frame = table(rows("a"))
    (own,), (foreign,) = (predict_with_surrogate(frame, used, 0.3) for used in (OWN, replace(OWN, foreign=True)))
    fall = float(frame["loss"][59]) / FINAL  # l at 30%
    assert foreign.predicted_final_loss == pytest.approx(own.predicted_final_loss, rel=1e-6)
    assert foreign.high is not None
    assert foreign.low is not None
    assert foreign.high > FINAL * fall
    assert foreign.low < FINAL / fall
    assert foreign.half_width_percent > 4 * own.half_width_percent
    assert "collapse fit fits one to runs of its own family" in foreign.warnings[0]


def walks(runs: int, deviation: float) -> np.ndarray:
    """Random walks in time that end at 0, with this standard deviation per sqrt of all training, (runs, steps)."""
    steps = np.random.default_rng(0).standard_normal((runs, len(STEPS))) * deviation / np.sqrt(len(STEPS))
    steps[:, 0] = 0
    return steps[:, ::-1].cumsum(axis=1)[:, ::-1] - steps[:, -1:]


def test_the_mean_error_of_a_walk_is_as_stated() -> None:
    error = walks(2000, 1.0)[:, STEPS >= 0.2]
    assert np.abs(error).mean() == pytest.approx(MAE_OF_WALK, rel=0.05)


@pytest.mark.parametrize("at", [0.3, 0.6])
def test_intervals_cover_curves_that_miss_the_surrogate_by_its_own_mean_error(at: float) -> None:
    mae = 0.5
    errors = walks(60, mae / 100 / MAE_OF_WALK)
    frame = table(*(rows(f"r{i}", error=error) for i, error in enumerate(errors)))
    found = predict_with_surrogate(frame, replace(OWN, mae_percent=mae), at)
    covered = [p.low <= FINAL <= p.high for p in found if p.low is not None and p.high is not None]
    assert len(covered) == 60
    assert np.mean(covered) >= 0.8
    overconfident = predict_with_surrogate(frame, replace(OWN, mae_percent=0.0), at)
    assert np.median([p.half_width_percent for p in overconfident]) < np.median([p.half_width_percent for p in found])
