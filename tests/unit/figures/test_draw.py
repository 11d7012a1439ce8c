"""What figures do with curves that are not as they should be, and the numbers that they state."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from scaling_collapse.config.figures import find_figure
from scaling_collapse.curves.family import family_summary
from scaling_collapse.errors import CurveError, FigureError
from scaling_collapse.figures.context import ALL_RUNS, FigureContext
from scaling_collapse.figures.fig_02_accuracy_against_flops import own_runs, published
from scaling_collapse.figures.fig_03_tau_controls_shape import equal_tau_spreads
from scaling_collapse.figures.fig_07_batch_sweep import crossings
from scaling_collapse.figures.lines import lines_of
from scaling_collapse.figures.registry import find_draw
from scaling_collapse.figures.style import style
from tests.support import synthetic_curves as synthetic
from tests.unit.figures.conftest import REPOSITORY

GRID = np.linspace(0.2, 1, 161)
MODELS = pd.read_csv(REPOSITORY / "data" / "published" / "models.csv")


def context_of(name: str, tables: dict[str, pd.DataFrame] | None = None) -> FigureContext:
    return FigureContext(find_figure(name, REPOSITORY), "cpu", tables=tables or {"models.csv": MODELS})


def drawn(name: str, **changes: Callable[[pd.DataFrame], pd.DataFrame]) -> tuple[str, pd.DataFrame]:
    """Return all words on the picture and its data; `changes` alter the curves of groups."""
    context = context_of(name)
    curves = {group: synthetic.group(group) for group in context.entry.groups}
    curves |= {group: change(curves[group]) for group, change in changes.items()}
    with style():
        figure, data = find_draw(name)(curves, context)
        figure.draw_without_rendering()
    texts = [artist.get_text() for artist in figure.findobj(lambda artist: hasattr(artist, "get_text"))]
    return "\n".join(texts), data


def diverge_last(table: pd.DataFrame) -> pd.DataFrame:
    """End the last run of a table at 60% of its training."""
    run = table.run.unique()[-1]
    kept = table[(table.run != run) | (table.tokens < 0.6 * table.tokens_total)].copy()
    kept.loc[kept.run == run, "status"] = "diverged"
    return kept


@pytest.mark.parametrize(
    ("figure", "group"),
    [
        ("headline", "equal_tokens"),
        ("fig_03_tau_controls_shape", "tau_by_lr"),
        ("fig_07_batch_sweep", "batch_sweep_fixed_weight_decay"),
    ],
)
def test_a_diverged_run_is_named_and_kept_up_to_where_it_ends(figure: str, group: str) -> None:
    words, data = drawn(figure, **{group: diverge_last})
    run = synthetic.GROUPS[group][-1].run_id
    assert run in words.replace("\n", " ")
    rows = data[(data.run == run) & (data.panel == group)]
    assert 0.5 < rows.t_hat.max() < 0.61
    assert rows.normalised_loss.isna().all()
    assert data[data.run != run].normalised_loss.notna().all()


def test_without_a_finished_run_the_picture_says_so() -> None:
    words, data = drawn(
        "fig_21_validation_collapse",
        celerity_80tpp=lambda table: table[table.tokens < 0.5 * table.tokens_total].assign(status="diverged"),
    )
    assert "no finished run" in words
    assert data.normalised_loss.isna().all()


def test_a_single_run_has_no_spread_and_the_picture_says_so() -> None:
    words, data = drawn(
        "fig_21_validation_collapse", celerity_80tpp=lambda table: table[table.run == table.run.iloc[0]]
    )
    assert "one run: no spread" in words
    assert data.run.nunique() == 1


def test_an_empty_group_is_a_typed_error() -> None:
    with pytest.raises(CurveError, match="no curve"):
        drawn("fig_21_validation_collapse", celerity_80tpp=lambda table: table[table.step < 0])


def test_titles_state_the_spread_and_the_data_give_it_again_by_its_definition() -> None:
    words, data = drawn("headline")
    spread = family_summary(synthetic.group("fixed_weight_decay"), grid=context_of("headline").grid).spread_percent
    assert f"spread {spread:.2f}%" in words
    assert data.measured_loss_nats.notna().all()
    rows = data[data.panel == "fixed_weight_decay"]
    l_RG = np.array([np.interp(GRID, run.t_hat, run.normalised_loss) for _, run in rows.groupby("run")])
    assert 100 * l_RG.std(axis=0, ddof=1).mean() == pytest.approx(spread, rel=0.02)


@pytest.mark.parametrize("name", ["headline", "fig_01_llama2_and_celerity", "fig_06_celerity_collapse"])
def test_legends_state_size_tpp_and_tau(name: str) -> None:
    words, _ = drawn(name)
    for group in context_of(name).entry.groups:
        for run in synthetic.GROUPS[group]:
            tau = f"{run.tau:.3f}".rstrip("0")
            assert {run.size, f"{run.tpp:.0f}", tau} <= set(re.findall(r"[\w.]+", words))


def test_curves_that_cross_are_counted() -> None:
    lines = lines_of(synthetic.group("batch_sweep_fixed_tau"), context_of("fig_07_batch_sweep"))
    up, down, level = (_with_loss(lines[0], slope) for slope in (1.0, -1.0, 0.0))
    assert crossings([up, down, level], GRID) == (3, 3)
    assert crossings([up, up, up], GRID) == (0, 3)
    assert crossings([up], GRID) == (0, 0)


def _with_loss(line, slope: float):  # type: ignore[no-untyped-def]
    return replace(line, loss=3 + slope * (line.t_hat - 0.6))


def test_equal_tau_is_compared_across_ways_and_not_with_itself() -> None:
    context = context_of("fig_03_tau_controls_shape")
    lines = [line for group in context.entry.groups for line in lines_of(synthetic.group(group), context)]
    spreads = equal_tau_spreads(lines, GRID)
    assert list(spreads) == pytest.approx([tau for tau in synthetic.TAUS if tau != 0.105])  # there all ways are one run
    assert max(spreads.values()) < 0.3  # noise; the sweep itself spreads by percents
    once = lines_of(synthetic.group("tau_by_lr"), context)
    assert equal_tau_spreads([*once, *once], GRID) == {}
    assert equal_tau_spreads([], GRID) == {}


def test_published_fit_and_frontier_are_those_of_the_paper() -> None:
    models, law = published(MODELS)
    assert law.exponent == pytest.approx(0.097, abs=5e-4)  # PAPER.md section 5
    assert np.log10(law.scale) == pytest.approx(np.log10(2.154e38), abs=0.02)
    assert len(models) == 17
    best = models[models.on_frontier]
    for _, model in models[~models.on_frontier].iterrows():
        assert ((best.flops <= model.flops) & (best.value >= model.value)).any(), model["name"]
    assert {"Celerity-1.8B", "Celerity-3.9B"} <= set(best["name"])
    with pytest.raises(FigureError, match="OLMo-1B-hf is missing"):
        published(MODELS[MODELS.name != "OLMo-1B-hf"])


def test_own_frontier_takes_the_last_held_out_value_of_finished_runs() -> None:
    table = diverge_last(synthetic.group("celerity_20tpp"))
    ours = own_runs(table)
    assert set(ours.run) == set(table.run) - {synthetic.GROUPS["celerity_20tpp"][-1].run_id}
    for _, run in ours.iterrows():
        rows = table[(table.run == run.run) & (table.split == "validation")]
        assert run.value == rows.bits_per_byte.iloc[-1] == rows.bits_per_byte.min()
    random_tokens = own_runs(table.assign(bits_per_byte=np.nan))  # no text, so no bytes
    assert set(random_tokens.unit) == {"loss_nats"}
    assert (
        random_tokens.value.tolist()
        == table[table.split == "validation"].groupby("run").loss.last().reindex(random_tokens.run).tolist()
    )
    with pytest.raises(FigureError, match="no finished run"):
        own_runs(table[table.split == "train"])


def test_a_figure_of_all_runs_finds_them_under_one_key() -> None:
    context = context_of("fig_02_accuracy_against_flops")
    curves = {ALL_RUNS: synthetic.group("celerity_20tpp")}
    with style():
        _, data = find_draw("fig_02_accuracy_against_flops")(curves, context)
    assert set(data.panel) == {"published", "ours"}
    with pytest.raises(FigureError, match="not among its tables"):
        context.table("other.csv")


def test_a_figure_without_a_module_is_a_typed_error() -> None:
    with pytest.raises(FigureError, match="has no module"):
        find_draw("fig_99_none")
