from __future__ import annotations

import math

import pytest

from scaling_collapse.config.group import Case, Group
from scaling_collapse.config.points import points


def cases(**settings: object) -> list[Case]:
    return [point.case for point in points(Group.model_validate({"name": "g", "sizes": ["a"], "tpp": 20} | settings))]


def test_axes_multiply_and_later_ones_vary_fastest() -> None:
    found = cases(sizes=["a", "b"], tpp=[20, 80], grid={"batch": [1, 2]}, seeds=[0, 1])
    assert len(found) == 16
    assert [(c.size, c.tpp, c.batch, c.seed) for c in found[:5]] == [
        ("a", 20, 1, 0),
        ("a", 20, 1, 1),
        ("a", 20, 2, 0),
        ("a", 20, 2, 1),
        ("a", 80, 1, 0),
    ]


def test_later_layers_override_earlier_ones() -> None:
    (case,) = cases(batch=1, peak_lr=0.1, grid={"peak_lr": [0.2]}, cases=[{"size": "b", "batch": 3}])
    assert (case.size, case.batch, case.peak_lr) == ("b", 3, 0.2)


@pytest.mark.parametrize(
    ("outer", "inner", "kept", "void"),
    [
        ({"tau": 0.1}, {"weight_decay": 0.2}, "weight_decay", "tau"),
        ({"weight_decay": 0.2}, {"tau": 0.1}, "tau", "weight_decay"),
        ({}, {"tokens": 1e6}, "tokens", "tpp"),
        ({"tpp": [], "tokens": 1e6}, {"tpp": 80}, "tpp", "tokens"),
    ],
)
def test_a_setting_voids_its_inherited_rival(outer: dict, inner: dict, kept: str, void: str) -> None:
    (case,) = cases(**outer, cases=[inner])
    assert getattr(case, kept) == inner[kept]
    assert getattr(case, void) is None


def test_null_keeps_what_is_inherited() -> None:
    (case,) = cases(tau=0.1, cases=[{"tau": None}])
    assert case.tau == 0.1


def test_take_keeps_the_first() -> None:
    assert cases(grid={"batch": [1, 2, 3]}, take=2) == cases(grid={"batch": [1, 2]})


def test_search_is_deterministic_log_uniform_and_three_digits() -> None:
    search = {"count": 400, "seed": 1, "peak_lr": {"low": 1e-3, "high": 1e-1}}
    rates = [case.peak_lr for case in cases(search=search)]
    assert rates == [case.peak_lr for case in cases(search=search)]
    assert rates != [case.peak_lr for case in cases(search=search | {"seed": 2})]
    assert all(rate == float(f"{rate:.3g}") and 1e-3 <= rate <= 1e-1 for rate in rates)
    # half of the draws lie below the geometric mean; 5 standard deviations of a fair coin
    below = sum(math.log10(rate) < -2 for rate in rates)
    assert abs(below - 200) < 5 * math.sqrt(400) / 2
