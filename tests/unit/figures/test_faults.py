"""The figures of the planted fault, on synthetic curves whose fault is known."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from scaling_collapse.errors import FigureError
from tests.support import synthetic_curves as synthetic
from tests.unit.figures.test_draw import drawn

RESIDUALS, REPAIR = "fig_01_residuals", "fig_06_fault_and_repair"


@pytest.fixture(scope="module")
def residuals() -> tuple[str, pd.DataFrame]:
    return drawn(RESIDUALS)


def mean_residual(data: pd.DataFrame, kind: str, low: float, high: float) -> float:
    rows = data[(data.panel == "mean") & (data.kind == kind) & (data.t_hat > low) & (data.t_hat <= high)]
    return float(rows.residual_percent.mean())


def test_the_residual_is_the_fault(residuals: tuple[str, pd.DataFrame]) -> None:
    _, data = residuals
    assert mean_residual(data, "initial", 0.25, 0.5) == pytest.approx(0, abs=1e-9)
    assert mean_residual(data, "initial", 0.5, synthetic.FAULT_AT) == pytest.approx(0, abs=0.3)
    assert mean_residual(data, "initial", 0.95, 1.0) == pytest.approx(7.5, abs=0.5)
    assert mean_residual(data, "repaired", 0.95, 1.0) == pytest.approx(0, abs=0.5)
    healthy = data[data.kind == "family"]
    family = [run for group in ("celerity_20tpp", "celerity_234tpp") for run in synthetic.GROUPS[group]]
    assert set(healthy.run) == {run.run_id for run in family if run.size != "132k"}  # nothing is smaller than that


def test_the_note_states_where_it_was_told(residuals: tuple[str, pd.DataFrame]) -> None:
    words, _ = residuals
    found = re.search(r"alarm at ([\d.]+)%, onset put at ([\d.]+)%", words)
    assert found is not None
    assert 60 < float(found[1]) < 75
    assert float(found[2]) == pytest.approx(60, abs=4)
    assert "a: the mean of 4 runs" in words.replace("\n", " ")


def test_a_repaired_run_alone_is_not_enough() -> None:
    with pytest.raises(FigureError, match="wrong kernel"):
        drawn(RESIDUALS, faulty_kernel=lambda table: table[~table.restart.str.contains("wrong")])


def test_the_ablation_shows_every_micro_batch_and_raw_losses_are_kept() -> None:
    words, data = drawn(REPAIR)
    assert {"7", "9", "14"} <= set(words.splitlines())
    assert set(data.panel) == {"losses", "ablation"}
    raw = data[(data.panel == "losses") & data.run.str.contains("wrong")]
    assert np.isfinite(raw.measured_loss_nats).all()
