from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scaling_collapse.curves import measures
from scaling_collapse.curves.curve import curves_of
from scaling_collapse.curves.family import RESIDUALS, SEEDS, family_summary, on_grid
from scaling_collapse.curves.grid import GRID
from scaling_collapse.curves.normalise import VALIDATION, Normalisation
from scaling_collapse.curves.smooth import RAW
from scaling_collapse.curves.table import checked, read_curves
from scaling_collapse.errors import CurveError
from tests.unit.curves.support import PUBLIC, rows, shape

T = np.arange(1, 2001) / 2000
EXACT = Normalisation(smoothing=RAW)


def family(*parts):
    return checked(pd.concat(parts, ignore_index=True), "here")


def noisy(seed, level, tau):
    return shape(T, tau) * (1 + level * np.random.default_rng(seed).standard_normal(len(T)))


def test_spread_of_known_curves():
    # l differs by tilt*(1 - t): std of two is tilt*(1 - t)/sqrt(2), its mean over t in [.2, 1] is 0.4 of that at 0.
    tilt = 0.02
    frame = family(
        rows("a", 3 * shape(T), size_params=1e5, tpp=20.0, tau=0.2, size="100k"),
        rows("b", 2 * (shape(T) + tilt * (1 - T)), size_params=2e5, tpp=10.0, tau=0.1, size="200k"),
    )
    summary = family_summary(frame, normalisation=EXACT)
    assert summary.spread_percent == pytest.approx(100 * tilt / np.sqrt(2) * 0.4, rel=1e-3)
    assert summary.max_minus_min_percent == pytest.approx(100 * tilt * 0.8)
    drop = shape(T)[399] - 1 + tilt * 0.8 / 2
    assert summary.spread_of_range_percent == pytest.approx(summary.spread_percent / drop)
    assert (summary.tpp_min, summary.tpp_max, summary.tau_min, summary.tau_max) == (10, 20, 0.1, 0.2)
    assert summary.sizes == ("100k", "200k")


def test_default_smoothing_finds_the_spread_below_the_noise_of_batches():
    frame = family(*(rows(f"r{i}", 3 * noisy(i, 0.01, tau), size_params=1e5 * i) for i, tau in ((1, 0.2), (2, 0.05))))
    truth = measures.spread(np.array([np.interp(GRID, T, shape(T, tau)) for tau in (0.2, 0.05)]))
    summary = family_summary(frame)
    assert summary.spread_percent == pytest.approx(truth, abs=0.2)
    assert summary.noise_floor_source == RESIDUALS
    assert 0.06 < summary.noise_floor_percent < 0.17


def test_noise_floor_from_seeds_and_the_lowest_seed_is_compared():
    frame = family(
        rows("small-s1", 3 * shape(T) + 0.03 * (1 - T), size_params=1e5, seed=1),
        rows("small-s0", 3 * shape(T), size_params=1e5, seed=0),
        rows("large-s0", 2 * shape(T), size_params=2e5, seed=0),
    )
    summary = family_summary(frame, normalisation=EXACT)
    assert summary.runs == ("small-s0", "large-s0")
    assert summary.spread_percent == pytest.approx(0, abs=1e-9)
    assert summary.noise_floor_source == SEEDS
    assert summary.noise_floor_percent == pytest.approx(1 / np.sqrt(2) * 0.4, rel=1e-3)


def test_diverged_runs_are_left_out_and_named():
    frame = family(
        rows("a", 3 * shape(T), size_params=1e5, status="finished"),
        rows("b", 3 * shape(T), size_params=2e5, status="finished"),
        rows("c", np.full(50, 9.0), size_params=3e5, tokens_total=2e6, status="diverged"),
    )
    summary = family_summary(frame, normalisation=EXACT)
    assert summary.left_out == ("c",)
    assert summary.runs == ("a", "b")
    with pytest.raises(CurveError, match=r"1 size\(s\) \(left out, since diverged: c\)"):
        family_summary(frame[frame["run"] != "b"], normalisation=EXACT)


def test_validation_losses_need_no_smoothing():
    every = slice(99, None, 100)
    parts = [rows(r, n * shape(T), "train", size_params=n) for r, n in (("a", 2.0), ("b", 3.0))]
    parts += [rows(r, n * shape(T), "validation", size_params=n).iloc[every] for r, n in (("a", 2.0), ("b", 3.0))]
    summary = family_summary(family(*parts), "validation")
    assert summary.spread_percent == pytest.approx(0, abs=1e-9)
    assert np.isnan(summary.noise_floor_percent)


def test_two_recipes_of_one_size_are_an_error():
    frame = family(rows("a", shape(T), lr_peak=0.01), rows("b", shape(T), lr_peak=0.02))
    with pytest.raises(CurveError, match="differ in more than their seeds"):
        family_summary(frame, normalisation=EXACT)


@pytest.mark.skipif(not PUBLIC.exists(), reason="public curves are not beside this checkout")
@pytest.mark.parametrize(("multiple", "low", "high"), [("1xC", 0.11, 0.21), ("2xC", 0.11, 0.21), ("10xC", 0.11, 0.21)])
def test_public_ladder_collapses_as_others_measured(multiple, low, high):
    """Five sizes at one TPP: 0.11-0.21% in the notes beside the data."""
    table = read_curves(PUBLIC / "olmo_ladder_c4.csv")
    summary = family_summary(table[table["run"].str.endswith(f"-{multiple}")], "val_c4", VALIDATION)
    assert low < summary.spread_percent < high
    assert len(summary.sizes) == 5


@pytest.mark.skipif(not PUBLIC.exists(), reason="public curves are not beside this checkout")
def test_public_ladder_of_one_size_does_not():
    """One size over 20 times the TPP: 0.8-0.9% in the notes beside the data."""
    table = read_curves(PUBLIC / "olmo_ladder_c4.csv")
    one_size = table[table["run"].isin([f"1B-{m}xC" for m in ("0.5", "1", "2", "5", "10")])]
    assert 0.8 < measures.spread(on_grid(list(curves_of(one_size, "val_c4")), VALIDATION)) < 0.9
