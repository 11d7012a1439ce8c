"""Comparing run and template: numbers are named, tolerated differences pass, theory is that of Eq. 6-9."""

from __future__ import annotations

import numpy as np
import pytest

from scaling_collapse.curves.theory import constant_rate_tpp
from scaling_collapse.errors import CurveError
from scaling_collapse.predict.match import UNKNOWN_STRETCH, differs_no_further, match, stretch_of_tpp
from scaling_collapse.scaling.compression import ALPHA, OPTIMAL_TPP
from tests.unit.predict.support import family, run, template

LOSS = np.linspace(4, 3, 20)


@pytest.mark.parametrize(("tpp", "ratio"), [(20, 10), (20, 0.1), (234, 0.4), (5, 1.0)])
def test_the_stretch_is_that_of_the_curves_of_theory(tpp: float, ratio: float) -> None:
    t_hat = np.array([0.1, 0.3, 0.7])

    def fall(value: float) -> np.ndarray:
        return constant_rate_tpp(t_hat, value, ALPHA, OPTIMAL_TPP) - 1

    assert fall(tpp * ratio) / fall(tpp) - 1 == pytest.approx(stretch_of_tpp(tpp, ratio))


def test_what_is_tolerated_passes_silently() -> None:
    matched = match(run("a", LOSS, tpp=24.0, tau=0.17), template())
    assert matched.warnings == ()
    assert matched.comparable


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"tpp": 200.0}, "tokens per parameter is 10 times that of template exact"),
        ({"tau": 0.05}, "tau is 0.25 times that of template exact"),
        ({"tpp": 2.0}, "tokens per parameter is 0.1 times"),
    ],
)
def test_a_mismatch_warns_with_its_number_and_is_refused_on_request(facts: dict[str, float], message: str) -> None:
    curve = run("a", LOSS, **facts)
    assert any(message in text for text in match(curve, template()).warnings)
    with pytest.raises(CurveError, match=message):
        match(curve, template(), "refuse")


def test_another_schedule_is_always_refused() -> None:
    with pytest.raises(CurveError, match="its schedule is constant, that of template exact is linear_to_zero"):
        match(run("a", LOSS, schedule="constant"), template())
    assert match(run("a", LOSS, schedule="constant"), template(schedule="")).warnings == ()
    assert match(run("a", LOSS, schedule=""), template()).warnings == ()


@pytest.mark.parametrize("facts", [{"tpp": 0.0}, {"tau": 0.0}, {"tau": -1.0}])
def test_impossible_recipes_are_refused(facts: dict[str, float]) -> None:
    with pytest.raises(CurveError, match="must be positive"):
        match(run("a", LOSS, **facts), template())


def test_missing_tau_and_tpp_are_stated_not_guessed() -> None:
    unknown = {"tau": float("nan"), "tpp": float("nan"), "tokens_total": float("nan"), "lr_peak": float("nan")}
    curve = run("a", LOSS, **unknown)
    by_size = match(curve, template(tpp=float("nan"), size_params=2.5e7, steps=100 * 20))
    assert by_size.stretch == pytest.approx(stretch_of_tpp(OPTIMAL_TPP, 0.25))
    assert any("tokens are not known" in text for text in by_size.warnings)
    assert any("tokens per parameter is 0.25 times" in text for text in by_size.warnings)
    nothing = match(curve, template(tpp=float("nan")))
    assert not nothing.comparable
    assert nothing.stretch_sd == UNKNOWN_STRETCH
    assert any("they are not compared" in text for text in nothing.warnings)


def test_a_wrong_tau_widens_and_the_further_the_more() -> None:
    walks = [match(run("a", LOSS, tau=tau), template()).walk for tau in (0.2, 0.4, 0.8)]
    assert walks[0] == 0
    assert walks[2] == pytest.approx(2 * walks[1])
    assert match(family()[2], template()).walk == 0


@pytest.mark.parametrize(
    ("sibling", "own", "fits"),
    [
        ({"tpp": 20.0}, {"tpp": 20.0}, True),
        ({"tpp": 24.0}, {"tpp": 20.0}, True),  # within what is tolerated
        ({"tpp": 80.0}, {"tpp": 20.0}, False),  # the run fits the template, the sibling does not
        ({"tpp": 40.0}, {"tpp": 80.0}, True),  # the same way, not so far
        ({"tpp": 20.0}, {"tpp": 80.0}, True),
        ({"tpp": 10.0}, {"tpp": 80.0}, False),  # the other way
        ({"tau": 0.05}, {"tau": 0.2}, False),
        ({"tau": 0.1}, {"tau": 0.05}, True),
        ({"tpp": float("nan"), "size_params": float("nan")}, {"tpp": 20.0}, True),  # not known
    ],
)
def test_siblings_count_only_where_they_differ_from_the_template_no_further_than_the_run(
    sibling: dict[str, float], own: dict[str, float], fits: bool
) -> None:
    """The template has 20 tokens per parameter and tau .2."""
    runs = [run(name, LOSS, **facts) for name, facts in (("sibling", sibling), ("run", own))]
    assert differs_no_further(runs[0], template(), runs[1], template()) is fits
