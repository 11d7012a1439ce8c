from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scaling_collapse.config.scale import Analysis
from scaling_collapse.curves.table import checked
from scaling_collapse.errors import FigureError
from scaling_collapse.tables.headline import headline
from tests.unit.curves.support import rows, shape

T = np.arange(1, 2001) / 2000
REQUIRED = ["family", "tpp_min", "tpp_max", "tau_min", "tau_max", "sizes", "spread_percent"]
REQUIRED += ["spread_of_range_percent", "noise_floor_percent"]


def family(tilt, sizes=(1e5, 2e5, 4e5), **columns):
    """Sizes whose l differ by `tilt` per size, on both splits, with noisy batches."""
    rng, parts = np.random.default_rng(0), []
    for i, params in enumerate(sizes):
        loss, facts = 3 * (shape(T) + tilt * i * (1 - T)), {"size_params": params, "tpp": 20.0, "tau": 0.2} | columns
        parts.append(rows(f"r{i}", loss * (1 + 0.01 * rng.standard_normal(len(T))), **facts))
        parts.append(rows(f"r{i}", loss, "validation", **facts).iloc[99::100])
    return checked(pd.concat(parts, ignore_index=True), "here")


def test_one_row_a_family_with_the_promised_columns():
    table = headline({"collapsed": family(0.0), "fixed_weight_decay": family(0.05)}, Analysis())
    assert list(table.columns[: len(REQUIRED)]) == REQUIRED
    assert table["family"].tolist() == ["collapsed", "fixed_weight_decay"]
    assert table["sizes"].tolist() == [3, 3]
    # Three sizes 0, 1, 2 times the tilt: std (n - 1) is 5%*(1 - t), whose mean over the grid is 0.4*5%.
    assert table["spread_validation_percent"].tolist() == pytest.approx([0, 2.0], abs=0.02)
    assert table["spread_percent"].tolist() == pytest.approx([0, 2.0], abs=0.2)
    assert table["ratio_to_collapsed"][1] == pytest.approx(table["spread_percent"][1] / table["spread_percent"][0])
    assert table["noise_floor_source"].tolist() == ["residuals", "residuals"]
    assert 0.03 < table["noise_floor_percent"][0] < 0.3


def test_diverged_runs_are_named():
    broken = rows("bad", np.full(90, 9.0), size_params=9e5, tokens_total=2e6, status="diverged")
    healthy = family(0.0, status="finished")
    table = headline({"collapsed": checked(pd.concat([healthy, broken], ignore_index=True), "here")}, Analysis())
    assert table["diverged_runs"].tolist() == ["bad"]
    assert table["runs"].tolist() == ["r0 r1 r2"]


def test_a_family_of_one_size_is_one_line():
    with pytest.raises(FigureError, match=r"headline, collapsed \(train\): family: 1 size\(s\)"):
        headline({"collapsed": family(0.0, sizes=(1e5,))}, Analysis())
