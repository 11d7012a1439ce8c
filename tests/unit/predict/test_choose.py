"""The choice: evidence moves it, a little evidence does not, siblings correct and calibrate."""

from __future__ import annotations

import numpy as np
import pytest

from scaling_collapse.predict.choose import PRIOR_ERROR, PRIOR_WEIGHT, Sibling, choose, reason, verdicts
from scaling_collapse.predict.estimate import Estimates, estimate
from scaling_collapse.predict.match import Match
from scaling_collapse.predict.methods import AFFINE, KRIGING, LEAST_SQUARES, METHODS
from scaling_collapse.predict.part import part_of
from scaling_collapse.predict.predict import Settings, siblings_of
from scaling_collapse.predict.template import Template
from tests.unit.predict.support import family, template


def estimates(values: dict[str, float], tests: tuple[dict[str, float], ...] = ()) -> Estimates:
    part = part_of(family()[0], template(), Settings().of("validation"), 0.3)
    every = dict.fromkeys(METHODS, 3.0) | values
    return Estimates(part, every, deviation=0.01, back_tests=tests, stretch=0.0, stretch_z=0.0)


def sibling(size: float, log_errors: dict[str, float]) -> Sibling:
    values = {method: 3.0 * float(np.exp(log_errors.get(method, 0.05))) for method in METHODS}
    return Sibling(f"s{size:g}", size, 3.0, estimates(values))


def test_without_evidence_the_prior_decides_and_widens() -> None:
    found = verdicts(estimates({}))
    assert choose(found).method == min(PRIOR_ERROR, key=PRIOR_ERROR.__getitem__)
    for method, verdict in found.items():
        assert verdict.deviation == pytest.approx(0.01 * PRIOR_ERROR[method])


def test_a_score_is_the_weighted_mean_of_prior_and_squared_errors() -> None:
    score = verdicts(estimates({}), [sibling(1.0, {KRIGING: 0.02})])[KRIGING].score
    assert score == pytest.approx((PRIOR_WEIGHT * PRIOR_ERROR[KRIGING] ** 2 + (0.02 / 0.01) ** 2) / (PRIOR_WEIGHT + 1))


def test_many_good_predictions_of_siblings_outweigh_the_prior() -> None:
    good = {method: 0.02 * (-1) ** i for i, method in enumerate(METHODS)} | {AFFINE: 0.0}
    few = [sibling(1.0, good)]
    many = [sibling(float(i), {m: e * (-1) ** i for m, e in good.items()}) for i in range(1, 9)]
    assert choose(verdicts(estimates({}), few)).method != AFFINE
    assert choose(verdicts(estimates({}), many)).method == AFFINE


def test_the_common_error_of_siblings_is_taken_off_shrunk() -> None:
    found = verdicts(estimates({}), [sibling(float(i), {KRIGING: 0.02}) for i in range(1, 4)])[KRIGING]
    assert found.value == pytest.approx(3.0 * np.exp(-0.02 * 3 / 4))
    assert found.siblings == 3


def test_a_method_without_a_value_is_no_candidate() -> None:
    assert AFFINE not in verdicts(estimates({AFFINE: float("nan")}))


def test_back_tests_on_the_part_count() -> None:
    hits, misses = dict.fromkeys(METHODS, 4.0), dict.fromkeys(METHODS, 0.0)
    assert verdicts(estimates({}, (hits,)))[KRIGING].score > verdicts(estimates({}))[KRIGING].score
    mixed = misses | {KRIGING: 4.0}
    assert choose(verdicts(estimates({}, (mixed, mixed)))).method != KRIGING


def test_the_part_itself_is_back_tested_with_every_alignment() -> None:
    curves = family()
    part = part_of(curves[1], template(), Settings().of("validation"), 0.5)
    found = estimate(part, template(), Match())
    assert len(found.back_tests) == 4
    assert all(abs(z) < 0.05 for test in found.back_tests for z in test.values())


def test_a_template_that_errs_alike_for_all_is_corrected_by_siblings() -> None:
    curves, exact = family(6), template()
    wrong = Template(exact.t_hat, exact.normalised * (1 + 0.02 * (1 - exact.t_hat)), "tilted", 20.0, 0.2)
    tested = siblings_of(curves[:5], wrong, 0.3)
    part = part_of(curves[5], wrong, Settings().of("validation"), 0.3)
    alone = verdicts(estimate(part, wrong, Match()))[LEAST_SQUARES].value
    helped = verdicts(estimate(part, wrong, Match()), tested)[LEAST_SQUARES].value
    true = curves[5].loss[-1]
    assert abs(helped / true - 1) < 0.3 * abs(alone / true - 1)


def test_the_reason_names_method_evidence_and_correction() -> None:
    found = verdicts(estimates({}, ({KRIGING: 1.0},)), [sibling(1.0, {KRIGING: 0.01})])
    text = reason(choose(found), found, estimates({}, ({KRIGING: 1.0},)))
    for word in (KRIGING, "1 back-test(s)", "1 finished sibling(s)", "%"):
        assert word in text
