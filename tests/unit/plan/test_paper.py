"""The paper scale against the numbers that the paper prints (PAPER sections 4 and 5)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from scaling_collapse.config.load import load_scale
from scaling_collapse.plan.expand import expand
from scaling_collapse.plan.run import Run

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    return expand(load_scale("paper", ROOT), ROOT)


def of_group(runs: Iterable[Run], group: str) -> list[Run]:
    return [run for run in runs if group in run.groups]


CELERITY = ["300M", "500M", "900M", "1.8B", "3.9B"]


def test_flops_of_table_10(runs: list[Run]) -> None:
    flops = {run.size: run.flops for run in of_group(runs, "celerity_234tpp")}
    printed = {"300M": 1.47e20, "500M": 5.15e20, "900M": 1.68e21, "1.8B": 6.54e21, "3.9B": 2.89e22}
    assert flops == pytest.approx(printed, rel=0.01)


@pytest.mark.parametrize(
    ("group", "tau", "billions"),
    [
        ("celerity_20tpp", 0.175, [5.4, 10.1, 18.1, 36.2, 77.6]),
        ("celerity_80tpp", 0.087, [21.7, 40.2, 72.5, 144.8, 310.4]),
        ("celerity_234tpp", 0.051, [63.4, 117.8, 212.3, 424.0, 909.2]),
    ],
)
def test_celerity_tokens_batches_and_timescales(runs: list[Run], group: str, tau: float, billions: list[float]) -> None:
    family = of_group(runs, group)
    assert [run.size for run in family] == CELERITY
    assert [run.batch_sequences for run in family] == [176, 240, 336, 464, 672]
    assert all(run.tau == pytest.approx(tau) for run in family)
    # to the printed digit, or 0.1%, since the paper's N may differ from ours in its fourth digit
    assert [run.tokens / 1e9 for run in family] == pytest.approx(billions, rel=0.001, abs=0.05)


def test_celerity_products_of_learning_rate_and_decay(runs: list[Run]) -> None:
    # eta*lambda = 1/(tau T) at 20/80/234 TPP
    printed = {
        "300M": [1.52e-3, 7.65e-4, 4.46e-4],
        "500M": [1.12e-3, 5.62e-4, 3.28e-4],
        "900M": [8.68e-4, 4.36e-4, 2.55e-4],
        "1.8B": [6.00e-4, 3.02e-4, 1.76e-4],
        "3.9B": [4.05e-4, 2.04e-4, 1.19e-4],
    }
    for index, group in enumerate(["celerity_20tpp", "celerity_80tpp", "celerity_234tpp"]):
        for run in of_group(runs, group):
            product = run.hidden_lr * run.optimizer.weight_decay
            assert product == pytest.approx(printed[run.size][index], rel=0.005)


@pytest.mark.parametrize("group", ["tau_by_batch", "tau_by_lr", "tau_by_weight_decay"])
def test_timescales_of_fig_3(runs: list[Run], group: str) -> None:
    taus = sorted(run.tau for run in of_group(runs, group) if run.tau is not None)
    assert taus == pytest.approx([0.026, 0.053, 0.105, 0.210, 0.421], rel=0.015)


def test_middle_of_fig_3_is_one_run(runs: list[Run]) -> None:
    shared = [run for run in runs if {"tau_by_batch", "tau_by_lr", "tau_by_weight_decay"} <= set(run.groups)]
    assert [run.run_id for run in shared] == ["610m-tpp80-b504-tau0.105-s0"]
    assert shared[0].tau == pytest.approx(0.1051, abs=5e-5)


@pytest.mark.parametrize(
    ("group", "taus"),
    [
        ("tpp_small", {0.021}),
        ("tpp_large", {0.105}),
        ("sizes_20tpp", {0.33, 0.27, 0.21, 0.30, 0.31}),
        ("batch_sweep_fixed_tau", {0.149}),
        ("fig_12_setups", {0.166, 0.210, 0.149, 0.175}),
        ("fig_13_experts", {0.33}),
        ("fig_14_betas", {0.21}),
        ("schedule_sizes_linear", {0.33, 0.42, 0.30}),
        ("schedule_constant", {1.682, 0.841, 0.421, 0.210, 0.105, 0.053, 0.026}),
    ],
)
def test_printed_timescales(runs: list[Run], group: str, taus: set[float]) -> None:
    found = of_group(runs, group)
    for run in found:
        assert run.tau is not None
        assert min(abs(run.tau - tau) / tau for tau in taus) < 0.02
    assert {min(taus, key=lambda tau: abs(tau - (run.tau or 0))) for run in found} == taus


# Table 4: runs of each proxy size and TPP.
TABLE_4 = {
    "111M": {20: 74, 80: 50, 200: 28, 320: 40, 1280: 11},
    "266M": {20: 25, 80: 19, 320: 19, 1280: 3},
    "610M": {20: 205, 80: 53, 200: 14, 320: 5},
    "1.7B": {20: 31, 80: 11, 160: 1, 320: 1},
    "3.3B": {20: 2, 23: 1, 30: 5},
}


@pytest.mark.parametrize(("size", "tpp"), [(size, tpp) for size, row in TABLE_4.items() for tpp in row])
def test_counts_of_table_4(runs: list[Run], size: str, tpp: int) -> None:
    counted = [
        run
        for run in runs
        if run.size == size and run.tpp == tpp and run.model.experts == 1 and run.parameterisation.kind == "mup"
    ]
    assert len(counted) == TABLE_4[size][tpp]


def test_about_600_proxies_and_no_others(runs: list[Run]) -> None:
    proxies = [run for run in runs if run.family == "proxy" and run.size != "39M"]
    assert len(proxies) == 598 + 5 + 4  # Table 4, mixtures of Fig 13, CompleteP of Fig 15
    assert {(run.size, run.tpp) for run in proxies} == {(size, tpp) for size, row in TABLE_4.items() for tpp in row}


def test_search_of_table_5(runs: list[Run]) -> None:
    search = of_group(runs, "mup_search")
    assert len(search) == 350
    assert {run.size for run in search} == {"39M"}
    assert {run.batch_sequences for run in search} == {256}
    assert search[0].params == pytest.approx(39e6, rel=0.01)
    assert search[0].tokens == pytest.approx(800e6, rel=0.001)


def test_warm_up_of_celerity(runs: list[Run]) -> None:
    assert {run.schedule.warmup_max_tokens for run in runs if run.family == "celerity"} == {375e6}
    assert {run.schedule.warmup_fraction for run in runs} == {0.1}


def test_llama_like_family_spans_ten_times_in_tpp(runs: list[Run]) -> None:
    family = of_group(runs, "equal_tokens")
    assert [round(run.tpp) for run in family] == [286, 154, 85, 43, 20]
    assert len({run.tokens for run in family}) == 1
