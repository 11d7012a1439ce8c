"""Where a sweep's templates come from: smaller runs at equal tau, else the surrogate; never the sweep's own size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from scaling_collapse.curves.curve import curves_of
from scaling_collapse.errors import CurveError
from scaling_collapse.predict.sweep_templates import fit_outside, other_sizes, seed_deviation_percent, sweep_templates
from scaling_collapse.surrogate.form import PAPER
from tests.support import synthetic_curves as synthetic
from tests.unit.curves.support import shape
from tests.unit.predict.support import grid, run

TAUS = (0.05, 0.1, 0.2, 0.4)


def table(size: str, taus: tuple[float, ...] = TAUS, **changes: object) -> pd.DataFrame:
    runs = [synthetic.SyntheticRun(size, 20, tau) for tau in taus]
    return pd.concat([synthetic.rows(replace(one, **changes)) for one in runs], ignore_index=True)  # type: ignore[arg-type]


def test_runs_of_a_smaller_size_at_equal_tau_are_the_templates() -> None:
    found = sweep_templates(table("170k"), table("132k"))
    assert found.fit is None
    assert found.words == "132k at equal tau"
    for name, template in found.by_run.items():
        assert template.source == name.replace("170k", "132k")


def test_of_several_at_equal_tau_the_nearest_batch_is_taken() -> None:
    pool = pd.concat([table("132k", batch=32), table("132k", batch=8)], ignore_index=True)
    found = sweep_templates(table("170k", batch=9), pool)
    assert all("-b8-" in template.source for template in found.by_run.values())


@pytest.mark.parametrize(
    "pool",
    [
        table("132k", TAUS[:-1]),  # one run has none
        table("132k", schedule="linear_10x"),
        table("132k", (0.08, 0.16, 0.32, 0.64)),  # tau 1.6 times as large
        table("262k"),  # larger
    ],
    ids=["one is missing", "schedule", "tau", "larger"],
)
def test_else_all_templates_are_the_surrogates(pool: pd.DataFrame) -> None:
    more = pd.concat([pool, table("262k"), table("262k", tpp=80)], ignore_index=True)
    found = sweep_templates(table("170k"), more, form=PAPER)
    assert found.fit is not None
    assert {template.source for template in found.by_run.values()} == {"surrogate"}
    t = np.linspace(0.25, 1, 50)
    for tau, template in zip(TAUS, found.by_run.values(), strict=True):
        true = synthetic.shape(synthetic.SyntheticRun(tau=tau), t, synthetic.factors("linear_to_zero", t))
        assert template.at(t) == pytest.approx(true, rel=0.015)


def test_the_swept_size_itself_never_enters() -> None:
    others = pd.concat([table("262k"), table("262k", tpp=80)], ignore_index=True)
    clean = sweep_templates(table("170k"), others)
    spoiled = table("170k").assign(loss=9.0)
    mixed = sweep_templates(table("170k"), pd.concat([spoiled, others], ignore_index=True))
    for name, template in clean.by_run.items():
        assert (template.normalised == mixed.by_run[name].normalised).all()
    with pytest.raises(CurveError, match="no run of another size than 170k"):
        other_sizes(table("170k"), spoiled)


def test_the_surrogate_is_fitted_to_smaller_sizes_where_these_are_enough() -> None:
    larger = pd.concat([table("262k"), table("262k", tpp=80)], ignore_index=True)
    smaller = pd.concat([table("132k"), table("132k", tpp=80)], ignore_index=True)
    _, used = fit_outside(table("170k"), pd.concat([larger, smaller]), form=PAPER)
    assert set(used.sizes) == {"132k"}
    for few in (table("132k", (0.05, 0.4), tpp=80), table("132k", (*TAUS, 0.8))):  # too few runs; one TPP
        _, used = fit_outside(table("170k"), pd.concat([larger, few]), form=PAPER)
        assert set(used.sizes) == {"132k", "262k"}


def test_runs_that_do_not_decay_to_zero_are_not_fitted() -> None:
    pool = pd.concat([table("262k"), table("262k", tpp=80), table("262k", schedule="constant")], ignore_index=True)
    _, used = fit_outside(table("170k"), pool, form=PAPER)
    assert not any("constant" in name for name in used.runs)


def test_noise_over_seeds_is_pooled_over_recipes() -> None:
    losses = {"a0": 3.0, "a1": 3.03, "b0": 2.0, "b1": 2.04, "b2": 2.02, "lonely": 5.0}
    curves = [
        run(name, value * shape(grid()), size_params=float(ord(name[0])), seed=float(i))
        for i, (name, value) in enumerate(losses.items())
    ]
    parts = [np.log([3.0, 3.03]), np.log([2.0, 2.04, 2.02])]
    expected = 100 * np.sqrt((parts[0].var(ddof=1) * 1 + parts[1].var(ddof=1) * 2) / 3)
    assert seed_deviation_percent(curves) == pytest.approx(expected)
    assert np.isnan(seed_deviation_percent(curves[-1:]))
    assert np.isnan(seed_deviation_percent(list(curves_of(table("170k"), "train"))))
