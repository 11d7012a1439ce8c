from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from scaling_collapse.config.corpus import settings_of
from scaling_collapse.config.load import load_scale
from scaling_collapse.config.recipe import Restart
from scaling_collapse.config.scale import Scale
from scaling_collapse.errors import ConfigError
from scaling_collapse.model.count import parameters
from scaling_collapse.model.parameterisation import base_weight_decay, hidden_lr
from scaling_collapse.paths import Paths
from scaling_collapse.plan.expand import expand
from scaling_collapse.plan.run import Run
from tests.unit.config.support import loaded, small

ROOT = Path(__file__).parents[3]


def runs_of(*groups: dict[str, Any], **changes: Any) -> list[Run]:
    """Runs of the small scale with other groups."""
    named = [{"name": f"g{i}", "sizes": ["4k"], "tpp": 20} | group for i, group in enumerate(groups)]
    return expand(Scale.model_validate(small() | {"groups": named} | changes))


def check_invariants(runs: list[Run]) -> None:
    assert len({run.run_id for run in runs}) == len(runs)
    for run in runs:
        assert run.tokens == run.steps * run.batch_tokens
        assert run.batch_tokens == run.batch_sequences * run.model.sequence_length
        assert run.params == parameters(run.model)
        assert run.hidden_lr == hidden_lr(run.optimizer.peak_lr, run.model, run.parameterisation)
        if run.tau is None:
            assert run.optimizer.weight_decay == 0
        else:  # Eq. 2
            product = run.hidden_lr * run.optimizer.weight_decay * run.tokens
            assert run.tau == pytest.approx(run.batch_tokens / product, rel=1e-8)


@pytest.mark.parametrize("name", ["cpu", "paper", "smoke"])
def test_invariants_of_the_projects_scales(name: str) -> None:
    runs = expand(load_scale(name, ROOT), ROOT)
    check_invariants(runs)
    assert runs == expand(load_scale(name, ROOT), ROOT)
    assert {group for run in runs for group in run.groups} == {g.name for g in load_scale(name, ROOT).groups}


@settings(max_examples=60, deadline=None)
@given(
    tpp=st.floats(5, 60),
    batch=st.integers(1, 60),
    peak_lr=st.floats(1e-4, 1),
    control=st.one_of(
        st.fixed_dictionaries({"tau": st.floats(0.01, 5)}),
        st.fixed_dictionaries({"weight_decay": st.floats(1e-3, 10) | st.just(0.0)}),
    ),
    kind=st.sampled_from(["standard", "mup", "completep"]),
)
def test_invariants_of_any_run(tpp: float, batch: int, peak_lr: float, control: dict[str, float], kind: str) -> None:
    group = {"sizes": ["4k", "16k"], "tpp": tpp, "batch": batch, "peak_lr": peak_lr, "parameterisation": kind} | control
    runs = runs_of(group)
    check_invariants(runs)
    for run in runs:
        # steps are the whole number nearest to TPP * N / B
        assert abs(run.tokens - tpp * run.params) <= run.batch_tokens / 2
        if "tau" in control:
            assert run.tau == pytest.approx(control["tau"], rel=1e-8)
        else:
            assert run.optimizer.weight_decay == pytest.approx(control["weight_decay"], rel=1e-11)


def test_equal_runs_of_several_groups_are_merged() -> None:
    runs = runs_of(
        {}, {"tau": 0.2}, {"tau": "law"}, {"weight_decay": {"of": "4k"}, "batch": {"of": "4k"}}, {"seeds": [1]}
    )
    assert [(run.run_id, run.groups) for run in runs] == [
        ("4k-tpp20-base-s0", ("g0", "g1", "g2", "g3")),
        ("4k-tpp20-base-s1", ("g4",)),
    ]


@pytest.mark.parametrize(
    ("change", "variant"),
    [
        ({}, "base"),
        ({"tau": 0.4}, "tau0.4"),
        ({"weight_decay": 0}, "wd0"),
        ({"batch": 16}, "b16"),
        ({"peak_lr": 0.016}, "lr0.016"),
        ({"schedule": "constant"}, "constant"),
        ({"schedule": "linear_10x"}, "x10"),
        ({"experts": 8}, "e8"),
        ({"beta2": 0.99}, "beta0.9-0.99"),
        ({"beta1": 0}, "beta0-0.95"),
        ({"parameterisation": "mup"}, "mup"),
        ({"schedule": "linear_10x", "batch": 16, "tau": 0.0525}, "x10-b16-tau0.0525"),
        ({"init_std": 0.0000123, "peak_lr": 0.25}, "init0.0000123-lr0.25"),
    ],
)
def test_ids_name_what_differs_from_the_recipe(change: dict[str, Any], variant: str) -> None:
    (run,) = runs_of(change)
    assert run.run_id == f"4k-tpp20-{variant}-s0"


def test_ids_do_not_depend_on_groups_or_how_a_value_was_asked_for() -> None:
    (base,) = runs_of({})
    alone = runs_of({"weight_decay": base.optimizer.weight_decay, "batch": 8})
    assert [run.run_id for run in alone] == ["4k-tpp20-base-s0"]
    swept = runs_of({"weight_decay": {"of": "4k"}, "grid": {"peak_lr": [0.005, 0.02]}})
    assert [run.run_id for run in swept] == ["4k-tpp20-lr0.005-tau0.4-s0", "4k-tpp20-lr0.02-tau0.1-s0"]


def test_law_and_table_set_tau() -> None:
    table, law = runs_of({"tpp": [20, 30]})
    assert table.tau == pytest.approx(0.2)
    assert law.tau == pytest.approx(0.9 * 30**-0.5)


def test_one_decay_for_all_sizes_makes_tau_fall_as_one_over_tokens() -> None:
    # Before width scaling the decay is the same, so eta*lambda is, and tau = B/(eta*lambda*D) falls as 1/D.
    for kind in ("standard", "mup", "completep"):
        small_run, large = runs_of(
            {"sizes": ["4k", "16k"], "weight_decay": {"of": "4k"}, "batch": {"of": "4k"}, "parameterisation": kind},
        )
        assert small_run.batch_sequences == large.batch_sequences == 8
        decays = [base_weight_decay(r.optimizer.weight_decay, r.model, r.parameterisation) for r in (small_run, large)]
        if kind == "completep":  # the family's own parameterisation, of which 4k's recipe speaks
            assert small_run.tau == pytest.approx(0.2)
        assert decays[0] == pytest.approx(decays[1])
        assert large.tau is not None
        assert small_run.tau is not None
        assert large.tau / small_run.tau == pytest.approx(small_run.tokens / large.tokens, rel=1e-8)


def test_equal_tokens_give_each_size_its_tpp() -> None:
    first, second = runs_of({"sizes": ["4k", "16k"], "tpp": [], "tokens": 200_000})
    assert abs(first.tokens - 200_000) <= first.batch_tokens / 2
    assert abs(second.tokens - 200_000) <= second.batch_tokens / 2
    assert first.tpp == pytest.approx(200_000 / first.params, rel=1e-3)
    assert second.tpp == pytest.approx(200_000 / second.params, rel=1e-3)


def test_experts_keep_the_dense_models_tokens() -> None:
    dense, mixture = runs_of({"grid": {"experts": [1, 4]}})
    assert mixture.tokens == dense.tokens
    assert mixture.params > 2 * dense.params


def test_batch_law() -> None:
    scale = small()
    scale["families"][0]["sizes"][0].pop("batch")
    scale["families"][0]["batch_law"] = {"coefficient": 0.01, "exponent": 0.5}
    runs = expand(Scale.model_validate(scale | {"groups": [{"name": "g", "sizes": ["4k"], "tpp": 20}]}))
    wanted = 20 * runs[0].params
    # the law counts sequences of 2048 tokens, this model's have 32
    assert runs[0].batch_sequences == round(0.01 * wanted**0.5 * 2048 / 32)


def test_fill_counts_all_groups_and_spreads_over_its_grid() -> None:
    fill = {"fill_to": 6, "grid": {"tau": [0.1, 0.2, 0.4], "batch": [8, 16, 32, 64]}}
    runs = runs_of(fill, {"grid": {"tau": [0.1, 0.2]}}, {"experts": 2}, {"tpp": 30})
    own = [run for run in runs if run.tpp == 20 and run.model.experts == 1]
    assert len(own) == 6
    filled = [run for run in runs if run.groups == ("g0",)]
    assert len(filled) == 4
    assert len({run.tau for run in filled}) == 3


def test_tokens_are_checked_against_a_declared_and_a_built_corpus(tmp_path: Path) -> None:
    corpus = {"source": {"kind": "pip_text"}, "vocabulary": 300}
    architecture = {"vocabulary": 300, "sequence_length": 32, "head_size": 8, "ffn_multiplier": 4}
    family = small()["families"][0] | {"architecture": architecture}
    changes = {"corpus": corpus, "families": [family]}
    need = max(run.tokens for run in expand(loaded(tmp_path, **changes), tmp_path))
    windows = need // 32
    # an epoch has (tokens - S) // S windows
    expand(loaded(tmp_path, **changes, corpus_tokens=(windows + 1) * 32), tmp_path)
    with pytest.raises(ConfigError, match="hold"):
        expand(loaded(tmp_path, **changes, corpus_tokens=(windows + 1) * 32 - 1), tmp_path)
    twice = {"corpus": corpus | {"max_epochs": 2}}
    runs = expand(loaded(tmp_path, **changes | twice, corpus_tokens=(windows + 1) * 32 - 1), tmp_path)
    assert {run.max_epochs for run in runs} == {2}

    scale = loaded(tmp_path, **changes)
    info = Paths("small", tmp_path).corpus / "corpus.json"
    info.parent.mkdir(parents=True)
    info.write_text(json.dumps({"settings": settings_of(scale.corpus), "train_tokens": 1000}))
    with pytest.raises(ConfigError, match="hold 960"):
        expand(scale, tmp_path)
    info.write_text(json.dumps({"settings": {"other": 1}, "train_tokens": 1000}))
    expand(scale, tmp_path)


def test_run_survives_json() -> None:
    (run,) = runs_of({})
    assert Run.model_validate_json(run.model_dump_json()) == run


def test_a_restart_is_part_of_the_run_and_of_its_name() -> None:
    restart = {"at": 0.6, "micro_batch": 3}
    plain, right, wrong = runs_of({"cases": [{}, {"restart": restart}, {"restart": restart | {"wrong_kernel_at": 2}}]})
    assert plain.restart is None
    assert right.run_id == plain.run_id.replace("base", "restart0.6-m3")
    assert wrong.run_id == plain.run_id.replace("base", "restart0.6-m3-wrong2")
    assert right.restart is not None
    assert right.restart.step(10) == 6
    assert [Restart.named(run.restart.name) for run in (right, wrong) if run.restart] == [right.restart, wrong.restart]
    same = {"run_id", "restart"}
    assert plain.model_dump(exclude=same) == wrong.model_dump(exclude=same)


@pytest.mark.parametrize(
    ("restart", "message"),
    [
        ({"at": 0.0001, "micro_batch": 1}, "no step between the first and the last"),
        ({"at": 0.5, "micro_batch": 10_000}, "more than the batch of"),
        ({"at": 1.0, "micro_batch": 1}, "less than 1"),
        ({"at": 0.5}, "micro_batch"),
    ],
)
def test_an_impossible_restart_is_refused(restart: dict[str, Any], message: str) -> None:
    with pytest.raises((ConfigError, ValidationError), match=message):
        runs_of({"restart": restart})
