from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scaling_collapse.diagnose.reference import (
    ALIGN_FROM,
    Reference,
    pooled,
    reference_of,
    surrogate_reference,
)
from scaling_collapse.diagnose.whiten import WANDER
from scaling_collapse.errors import CurveError
from scaling_collapse.predict.match import TAU_WALK
from scaling_collapse.surrogate.form import Surrogate
from scaling_collapse.surrogate.schedule import RateCurve
from tests.unit.curves.support import curve
from tests.unit.diagnose.support import T, course, noisy

RNG = np.random.default_rng(0)


def test_means_are_those_of_the_points_inside():
    values = RNG.standard_normal(100)
    reference = Reference(np.arange(1, 101) / 100, values, "a")
    start, stop = np.array([0.1, 0.35, 0.9]), np.array([0.2, 0.6, 1.0])
    found = reference.means(start, stop, (start + stop) / 2)
    assert found == pytest.approx([values[10:20].mean(), values[35:60].mean(), values[90:].mean()])


def test_sparse_references_are_interpolated():
    reference = Reference(np.array([0.25, 0.5, 1.0]), np.array([3.0, 2.0, 1.0]), "a")
    at = np.array([0.25, 0.4, 0.75])
    assert reference.means(at - 0.01, at, at) == pytest.approx([3.0, 2.4, 1.5])


def test_difficulty_is_taken_out():
    difficulty = RNG.standard_normal(len(T)) * 0.1
    loss = course() + difficulty
    found = reference_of(curve(loss, difficulty=difficulty))
    assert np.exp(found.log_loss)[500:] == pytest.approx(course()[500:], rel=0.003)


@pytest.mark.parametrize(
    ("t_hat", "values", "problem"),
    [
        (np.array([0.5, 0.5]), np.zeros(2), "increasing fractions"),
        (np.array([1.0]), np.zeros(1), "two or more losses"),
        (np.array([0.5, 1.0]), np.array([0.0, np.nan]), "not positive and finite"),
        (np.array([0.5, 0.9]), np.zeros(2), "it stops at 90.0% of its training"),
    ],
)
def test_what_is_no_finished_curve_is_no_reference(t_hat, values, problem):
    with pytest.raises(CurveError, match=problem):
        Reference(t_hat, values, "a")


def test_a_wander_must_be_a_number():
    with pytest.raises(CurveError, match="wander is nan"):
        Reference(np.array([0.5, 1.0]), np.zeros(2), "a", float("nan"))


def test_a_mean_of_references_is_their_mean_and_wanders_less():
    parts = [Reference(T, np.log(noisy(RNG, course())), str(i)) for i in range(3)]
    both = pooled(parts)
    edges = np.array([0.2, 0.5, 0.8])
    each = [part.means(edges, edges + 0.1, edges + 0.05) for part in parts]
    assert both.means(edges, edges + 0.1, edges + 0.05) == pytest.approx(np.mean(each, axis=0))
    assert both.wander == pytest.approx(WANDER * np.sqrt(2 / 3))
    assert pooled(parts[:1]).wander == pytest.approx(WANDER)
    with pytest.raises(CurveError, match="there is none"):
        pooled([])


def test_other_tau_or_tpp_widen_the_walk_and_are_told_by_number():
    mine, same = curve(course(), "mine"), curve(course(), "same")
    assert reference_of(same, mine).wander == pytest.approx(WANDER)
    assert reference_of(same, mine).notes == ()
    slow = curve(course(), "slow", weight_decay=0.2)
    found = reference_of(slow, mine)
    assert found.wander == pytest.approx(np.hypot(WANDER, TAU_WALK * np.log(2)))
    assert found.notes == ("tau is 2 times that of slow, so only larger faults are told",)
    large = replace(mine, facts=mine.facts | {"size_params": 4e5})  # tokens stay: a fourth of the TPP, the same tau
    (note,) = reference_of(same, large).notes
    assert note.startswith("tokens per parameter is 0.25 times")
    assert reference_of(same, large).wander > 2 * WANDER


def test_another_schedule_is_refused():
    with pytest.raises(CurveError, match="its schedule is linear_to_zero, that of reference b is constant"):
        reference_of(curve(course(), "b", schedule="constant"), curve(course(), "a"))


def test_the_surrogate_is_the_curve_that_it_says():
    rate = RateCurve(np.array([0.1, 1.0]), np.array([1.0, 0.0]))
    surrogate = Surrogate(b_c=0.1, b_e=-0.3, q_c=3.0, q_e=-0.5)
    run = curve(course(), tpp=20.0, tau=0.2)
    found = surrogate_reference(surrogate, run, rate)
    at = np.array([ALIGN_FROM, 0.6, 1.0])
    expected = np.log(surrogate.evaluate(at, 0.2, 20.0, rate))
    assert found.means(at - 1e-4, at, at) == pytest.approx(expected, abs=1e-4)
    with pytest.raises(CurveError, match="tau is nan"):
        surrogate_reference(surrogate, curve(course(), weight_decay=np.nan), rate)
