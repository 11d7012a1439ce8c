from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from scaling_collapse.diagnose.family_check import check_family
from scaling_collapse.errors import CurveError
from tests.unit.curves.support import curve, shape
from tests.unit.diagnose.support import T, noisy

RNG = np.random.default_rng(0)


def member(name, size, final, tau=0.2, **facts):
    known = {
        "size_params": size,
        "tokens_total": 20 * size,
        "tau": tau,
        "tpp": 20.0,
        "weight_decay": 0.02 / tau,
    } | facts
    return curve(noisy(RNG, final * shape(T, tau)), name, **known)


FAMILY = [member("small", 1e5, 3.4), member("middle", 2e5, 3.2), member("large", 4e5, 3.0)]


def test_a_family_collapses_and_the_json_shape_is_that_of_check():
    found = check_family(FAMILY)
    assert found.collapses
    assert found.as_json() == {
        "spread_percent": found.spread_percent,
        "spread_of_range_percent": found.spread_of_range_percent,
        "noise_floor_percent": found.noise_floor_percent,
        "collapses": True,
        "outliers": [],
        "mismatches": [],
    }
    json.dumps(found.as_json())
    assert found.spread_percent < found.limit_percent
    assert found.floor_source == "residuals"


def test_the_run_that_does_not_fit_is_named():
    odd = replace(FAMILY[1], loss=FAMILY[1].loss * (1 + 0.05 * (1 - T)), run="odd")
    found = check_family([FAMILY[0], odd, FAMILY[2], member("huge", 8e5, 2.9)])
    assert not found.collapses
    assert found.outliers == ("odd",)


def test_runs_that_all_differ_have_no_single_outlier_and_their_numbers_are_told():
    found = check_family([member(str(tau), 1e5, 3.4, tau) for tau in (0.05, 0.1, 0.2, 0.4, 0.8)])
    assert not found.collapses
    assert found.outliers == ()
    assert found.mismatches == ("tau from 0.05 (0.05) to 0.8 (0.8), a ratio of 16",)


def test_tpp_and_schedules_are_told_too():
    mixed = [FAMILY[0], member("long", 2e5, 3.2, tpp=80.0), member("flat", 4e5, 3.0, schedule="constant")]
    assert check_family(mixed).mismatches == (
        "tokens per parameter from 20 (flat) to 80 (long), a ratio of 4",
        "schedules constant, linear_to_zero",
    )


def test_seeds_are_the_noise_floor_and_only_one_of_each_recipe_is_compared():
    found = check_family([*FAMILY, member("again", 1e5, 3.4, seed=1.0)])
    assert found.floor_source == "seeds"
    assert found.runs == ("small", "middle", "large")


def test_an_irreducible_loss_that_is_known_makes_the_rest_collapse():
    exact = [
        curve(1.5 + final * shape(T), str(final), size_params=size, irreducible_nats=1.5)
        for final, size in ((1.0, 1e5), (1.5, 2e5), (2.0, 3e5))
    ]
    found = check_family(exact)
    assert found.irreducible_nats == 1.5
    assert found.spread_irreducible_percent < 0.01 < 0.5 < found.spread_percent


def test_validation_curves_have_the_noise_of_their_points():
    truth = 3 * shape(T[99::100] / T[-1])
    curves = []
    for i in range(4):
        loss = truth * np.exp(0.004 * RNG.standard_normal(20))
        curves.append(replace(curve(loss, str(i), size_params=1e5 * (i + 1)), split="validation"))
    found = check_family(curves)
    assert found.floor_source == "points"
    assert found.noise_floor_percent == pytest.approx(0.4 * np.sqrt(2), rel=0.5)
    assert found.collapses


def test_a_run_that_ends_above_is_an_outlier_and_without_a_fall_there_is_no_range():
    rising = replace(FAMILY[1], loss=FAMILY[1].loss * (1 + 0.6 * T), run="rising")
    found = check_family([FAMILY[0], rising, FAMILY[2]])
    assert not found.collapses
    assert found.outliers == ("rising",)
    both = check_family([rising, replace(rising, run="again", facts=rising.facts | {"size_params": 8e5})])
    assert both.spread_percent < both.limit_percent
    assert not both.collapses
    assert both.outliers == ("rising", "again")
    assert both.as_json()["spread_of_range_percent"] is None


def test_runs_are_compared_as_far_as_all_of_them_were_logged():
    short = replace(
        FAMILY[1], run="short", **{n: getattr(FAMILY[1], n)[:1990] for n in ("t_hat", "loss", "steps", "tokens")}
    )
    found = check_family([FAMILY[0], short, FAMILY[2]])
    assert short.t_hat[-1] == 0.995
    assert found.runs == ("small", "short", "large")
    assert found.collapses
    late = replace(
        FAMILY[1], run="late", **{n: getattr(FAMILY[1], n)[500:] for n in ("t_hat", "loss", "steps", "tokens")}
    )
    with pytest.raises(CurveError, match="late: its losses begin at 25% of training"):
        check_family([FAMILY[0], late])


def test_unfinished_and_diverged_runs_are_left_out():
    half = replace(FAMILY[0], t_hat=FAMILY[0].t_hat / 2, run="half")
    lost = replace(FAMILY[0], facts=FAMILY[0].facts | {"status": "diverged"}, run="lost")
    assert check_family([*FAMILY, half, lost]).left_out == ("half", "lost")
    with pytest.raises(CurveError, match=r"1 finished run\(s\) of different recipes"):
        check_family([FAMILY[0], half])
