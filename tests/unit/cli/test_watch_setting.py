from __future__ import annotations

import math

import pytest

from scaling_collapse.cli.watch_setting import Setting
from scaling_collapse.errors import CurveError
from tests.unit.predict.support import grid, run, shape

L = 3 * shape(grid())


def finished(name, size, **facts):
    return run(name, L, split="train", size_params=size, **facts)


SMALL, LARGE = finished("small", 1e8), finished("large", 8e8)


def chosen(setting, name="mine", **facts):
    found = setting.reference(setting.outline(name, facts))
    return None if found is None else found.run


def test_the_nearest_size_is_taken_and_the_largest_where_it_is_not_known():
    setting = Setting(references=[SMALL, LARGE])
    assert chosen(setting, size_params=2e8) == "small"
    assert chosen(setting, size_params=7e8) == "large"
    assert chosen(setting) == "large"


def test_recipe_comes_before_size():
    long = finished("long", 1e8, tpp=80.0)
    setting = Setting(references=[long, LARGE])
    assert chosen(setting, size_params=1e8, tpp=20.0) == "large"
    assert chosen(setting, size_params=1e8, tpp=75.0) == "long"
    assert chosen(setting, size_params=1e8) == "long"
    wide = finished("wide", 8e8, tau=0.8)
    assert chosen(Setting(references=[SMALL, wide], tau=0.7)) == "wide"


def test_a_run_is_not_held_against_itself_nor_against_another_schedule():
    setting = Setting(references=[SMALL, LARGE])
    assert chosen(setting, "large") == "small"
    alone = Setting(references=[SMALL])
    assert chosen(alone, "small") is None
    assert alone.why_alone("small", {}) == "it is the reference itself, so only rises of its loss are told"
    assert chosen(setting, schedule="constant") is None
    assert "no reference has its schedule, constant" in setting.why_alone("x", {"schedule": "constant"})
    assert setting.why_alone("x", {}) == Setting().why_alone("x", {}) == ""


def test_a_named_reference_of_another_schedule_is_an_error():
    setting = Setting(references=[SMALL], named=True, schedule="constant")
    with pytest.raises(CurveError, match="its schedule is constant, that of reference small is linear_to_zero"):
        setting.watch("mine", False, 100, {})


def test_a_reference_needs_the_length():
    with pytest.raises(CurveError, match=r"length is not known.*--steps"):
        Setting(references=[SMALL]).watch("mine", True, None, {})


def test_the_length_is_given_or_follows_from_tokens():
    assert Setting(total_steps=70).length({"tokens_total": 1e6}, 10, 1e5) == 70
    assert Setting().length({"tokens_total": 1e6}, 10, 1e5) == 100
    for facts, tokens in (({}, 1e5), ({"tokens_total": 1e6}, math.nan), ({"tokens_total": "?"}, 1e5)):
        assert Setting().length(facts, 10, tokens) is None
    assert Setting().length({"tokens_total": 1e6}, 0, 1e5) is None


def test_what_the_user_says_counts_before_what_the_log_says():
    own = Setting(tokens_per_parameter=30.0, tau=0.5, schedule="x").outline("mine", {"tpp": 20.0, "schedule": "y"})
    assert (own.tpp, own.tau, own.facts["schedule"]) == (30.0, 0.5, "x")
    known = {"size_params": 1e6, "tokens_total": 2e7, "batch_tokens": 1e3, "lr_peak": 0.01, "weight_decay": 0.1}
    own = Setting().outline("mine", known)
    assert own.tpp == 20
    assert own.tau == pytest.approx(1e3 / (0.01 * 0.1 * 2e7))


def test_facts_and_reference_reach_the_watch():
    watch = Setting(total_steps=600, references=[SMALL], rate=0.05).watch("mine", True, 600, {"tpp": 20.0})
    assert watch.monitor.judge.reference.source == "small"
    assert (watch.monitor.judge.rate, watch.monitor.judge.validation) == (0.05, True)
    assert watch.own.tokens_per_parameter == 20
    assert watch.template is not None
