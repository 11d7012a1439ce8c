"""The figures of prediction, on synthetic curves whose surrogate is known."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from scaling_collapse.curves.curve import curves_of
from scaling_collapse.errors import FigureError
from scaling_collapse.figures import fig_26_surrogate_shapes as shapes
from scaling_collapse.figures.context import ALL_RUNS
from scaling_collapse.figures.registry import find_draw
from scaling_collapse.figures.style import style
from scaling_collapse.figures.sweeps import BATCH, WEIGHT_DECAY, measure, seed_noise
from scaling_collapse.predict.early_stop import current_loss
from tests.support import synthetic_curves as synthetic
from tests.unit.figures.test_draw import context_of, diverge_last, drawn

SWEEPS = {"fig_09_early_stopping": WEIGHT_DECAY, "fig_23_early_stopping_batch": BATCH}


@pytest.fixture(scope="module")
def drawn_sweeps() -> dict[str, tuple[str, pd.DataFrame]]:
    return {name: drawn(name) for name in SWEEPS}


@pytest.mark.parametrize("name", SWEEPS)
def test_early_stopping_costs_are_those_of_the_runs_chosen(
    name: str, drawn_sweeps: dict[str, tuple[str, pd.DataFrame]]
) -> None:
    words, data = drawn_sweeps[name]
    assert re.search(r"templates: surrogate of \d+ runs of 170k, 262k|surrogate of \d+ runs of 170k", words)
    assert "templates: 132k at equal tau" in words
    for group in SWEEPS[name]:
        runs = data[(data.panel == group) & (data.kind == "run")].drop_duplicates("run").set_index("run")
        rules = data[(data.panel == group) & (data.kind == "rule")]
        final = runs.true_final_loss
        assert set(runs.index) == {run.run_id for run in synthetic.GROUPS[group]}
        for _, row in rules[rules.chosen.fillna("") != ""].iterrows():
            assert row.regret_nats == pytest.approx(final[row.chosen] - final.min())
        random = rules[rules.rule == "random"].regret_nats
        assert random.to_numpy() == pytest.approx(np.full(len(random), final.mean() - final.min()))
        late = rules[(rules.rule == "predicted_best") & (rules.progress >= 0.3)]
        assert late.regret_percent.max() < 0.3  # runs of neighbouring tau are 0.6% apart


def test_predictions_begin_after_warm_up_and_with_a_surrogate_after_20_percent(
    drawn_sweeps: dict[str, tuple[str, pd.DataFrame]],
) -> None:
    _, data = drawn_sweeps["fig_09_early_stopping"]
    known = data[(data.kind == "run") & data.predicted_final_loss.notna()]
    small, large = (known[known.panel == group].progress.min() for group in WEIGHT_DECAY)
    assert (small, large) == (0.25, 0.1)  # the rate peaks at 1/11 of training


def test_the_band_is_the_noise_over_seeds() -> None:
    context = context_of("fig_09_early_stopping")
    repeats = synthetic.group("seed_repeats")
    noise = seed_noise({"seed_repeats": repeats}, context)
    ends = [current_loss(curve, 1.0) for curve in curves_of(repeats, "train")]
    assert noise == pytest.approx(100 * abs(np.log(ends[0] / ends[1])) / np.sqrt(2), rel=0.2, abs=0.02)
    assert np.isnan(seed_noise({}, context))


def test_a_sweep_with_a_diverged_run_is_measured_without_it() -> None:
    words, data = drawn("fig_23_early_stopping_batch", batch_sweep_large=diverge_last)
    gone = synthetic.GROUPS["batch_sweep_large"][-1].run_id
    assert gone in words.replace("\n", " ")
    assert gone not in set(data.run.dropna())


def test_a_sweep_of_one_finished_run_is_a_typed_error() -> None:
    context = context_of("fig_09_early_stopping")
    table = synthetic.group("weight_decay_sweep_large")
    with pytest.raises(FigureError, match=r"weight_decay_sweep_large.*1 run\(s\) finished"):
        measure(
            "weight_decay_sweep_large", {"weight_decay_sweep_large": table[table.run == table.run.iloc[0]]}, context
        )


def test_errors_are_means_over_runs() -> None:
    _, data = drawn("fig_24_prediction_error")
    for group, rows in data.groupby("panel"):
        runs = rows[(rows.kind == "run") & (rows.progress == 0.5)]
        rule = rows[(rows.rule == "predicted_best") & (rows.progress == 0.5)]
        expected = 100 * (runs.predicted_final_loss / runs.true_final_loss - 1).abs().mean()
        assert rule.error_percent.iloc[0] == pytest.approx(expected), group
        current = rows[(rows.rule == "current_best") & (rows.progress == 0.5)].error_percent.iloc[0]
        assert current > 3 * expected


def test_predicted_curves_follow_the_true_ones() -> None:
    words, data = drawn("fig_08_predicted_final_loss")
    assert "dashed surrogate fitted to" in words.replace("\n", " ")
    curves = data[data.panel.isin(["paper", "free_decay"])]
    assert curves.error_percent.abs().mean() < 0.5  # drawn from a surrogate, with noise of that size
    gap = curves.predicted_normalised_loss - curves.normalised_loss
    assert (100 * gap).to_numpy() == pytest.approx(curves.error_percent.to_numpy())
    losses = data[data.panel == "final loss"]
    assert (losses.predicted_final_loss / losses.true_final_loss).between(0.985, 1.015).all()


def test_fig_7_predicts_the_end_of_every_finished_run() -> None:
    words, data = drawn("fig_07_batch_sweep")
    assert "circles: final loss predicted from 30% of training" in words.replace("\n", " ")
    ends = data.groupby(["panel", "run"]).agg(true=("loss_nats", "last"), predicted=("predicted_final_loss", "first"))
    assert (ends.predicted / ends.true).between(0.97, 1.03).all()


def test_the_law_of_b_is_that_of_the_curves() -> None:
    context = context_of("fig_22_surrogate_constants")
    groups = ("weight_decay_sweep_small", "tpp_small", "celerity_80tpp", "celerity_234tpp", "schedule_sizes_constant")
    curves = {ALL_RUNS: pd.concat([synthetic.group(name) for name in groups], ignore_index=True)}
    with style():
        _, data = find_draw("fig_22_surrogate_constants")(curves, context)
    assert set(data["size"]) == {"132k"}
    assert not data.run.str.contains("constant").any()
    assert data.fitted_b.to_numpy() == pytest.approx(0.083 * data.tau.to_numpy() ** -0.27, rel=0.25)
    assert data.mae_percent.max() < 0.5


def test_shapes_are_those_of_the_formula() -> None:
    context = context_of("fig_26_surrogate_shapes")
    with style():
        _, data = shapes.draw({}, context)
    assert data[data.t_hat == 1.0].normalised_loss.to_numpy() == pytest.approx(np.ones(15))
    row = data[(data.panel == "fixed_tau") & (data.tpp == 1000) & np.isclose(data.t_hat, 0.55)].iloc[0]
    b, q = 0.1168 * 0.22**-0.2856, 3.076 * 1000**-0.4591  # published.py

    def level(t: float, eta: float) -> float:
        return float((1.001 / (t + 0.001)) ** 0.05 + b * (eta + 0.1) ** q)

    assert row.normalised_loss == pytest.approx(level(0.55, 0.5) / level(1.0, 0.0), rel=1e-3)
    taus = data.groupby(["panel", "tpp"]).tau.first()
    assert taus["fixed_hyperparameters", 100.0] == pytest.approx(0.22 / 5)
    assert taus["tau_law", 10000.0] == pytest.approx(1.084 * 10000**-0.527)  # section 3


def test_back_test_counts_what_the_table_holds(synthetic_root) -> None:  # type: ignore[no-untyped-def]
    table = pd.read_csv(synthetic_root / "results" / "cpu" / "tables" / "back_test.csv")
    context = context_of("back_test", {"back_test": table})
    with style():
        figure, data = find_draw("back_test")({}, context)
        figure.draw_without_rendering()
    used = table[(table.method == "auto") & table.predicted_final_loss.notna()]
    share = 100 * used.covered.astype(float).mean()
    words = " ".join(artist.get_text() for artist in figure.findobj(lambda artist: hasattr(artist, "get_text")))
    assert f"{share:.1f}% of {len(used)} covered" in words.replace("\n", " ")
    some = data[(data.kind == "family") & (data.method == "affine") & (data.progress == 0.5)]
    rows = table[(table.kind == "family") & (table.method == "affine") & (table.progress == 0.5)]
    assert some.error_percent.iloc[0] == pytest.approx(rows.error_percent.abs().mean())
