"""Kriging against its textbook linear system, against Monte Carlo, and in the limits that have names."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import dblquad

from scaling_collapse.curves.normalise import VALIDATION
from scaling_collapse.predict.kriging import CELLS, NOISE_FLOOR, Covariances, krige, stretch_found
from scaling_collapse.predict.match import Match
from scaling_collapse.predict.methods import LEAST_SQUARES, aligned
from scaling_collapse.predict.part import Part, part_of
from scaling_collapse.predict.template import Template
from tests.unit.predict.support import run, template

MATCHED = Match()


def a_part(seed: int = 0, at: float = 0.4) -> Part:
    random = np.random.default_rng(seed)
    exact = template()
    return part_of(run("a", 3 * exact.normalised * (1 + 0.004 * random.standard_normal(60))), exact, VALIDATION, at)


def window(part: Part) -> slice:
    return slice(part.window, None)


def noise(part: Part) -> np.ndarray:
    l_of_t = part.template[part.window :]
    return np.diag(l_of_t**2 * (part.noise**2 / part.count[part.window :] + NOISE_FLOOR**2))


@pytest.mark.parametrize("stretch", [0.0, 0.3])
def test_one_hypothesis_is_universal_kriging(stretch: float) -> None:
    part = a_part()
    covariance = Covariances.of(template(), part.t_hat).hypotheses(MATCHED)[2:3]
    value, deviation = krige(part, covariance, stretch, window(part))
    # The textbook's system: weights w that are unbiased, sum(w*f) = f(1) = 1, with the least variance.
    scale = part.loss[-1] / part.template[-1]  # covariances are relative to L(T), of which this is the first guess
    inside = (covariance[0][part.window :, part.window :] + noise(part)) * scale**2
    f = part.template[part.window :] + stretch * (part.template[part.window :] - 1)
    system = np.block([[inside, f[:, None]], [f[None, :], np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.append(np.zeros(len(f)), 1.0))
    assert value == pytest.approx(solution[:-1] @ part.loss[part.window :], rel=1e-9)
    assert deviation * value == pytest.approx(np.sqrt(solution[:-1] @ inside @ solution[:-1]), rel=1e-6)


def test_a_later_point_of_the_part_is_predicted_as_universal_kriging_does() -> None:
    part = a_part()
    covariance = Covariances.of(template(), part.t_hat).hypotheses(MATCHED)[2:3]
    stop = len(part.t_hat) - 3
    known, target = slice(part.window, stop), slice(stop, None)
    value, deviation = krige(part, covariance, 0.0, known, target)
    l_of_t, loss = part.template[known], part.loss[known]
    noise_part = np.diag(l_of_t**2 * (part.noise**2 / part.count[known] + NOISE_FLOOR**2))
    inside, across = covariance[0][known, known] + noise_part, covariance[0][known, target].mean(axis=1)
    system = np.block([[inside, l_of_t[:, None]], [l_of_t[None, :], np.zeros((1, 1))]])
    weights = np.linalg.solve(system, np.append(across, part.template[target].mean()))[:-1]
    assert value == pytest.approx(weights @ loss, rel=1e-9)
    own = covariance[0][target, target].mean()
    variance = weights @ inside @ weights - 2 * weights @ across + own
    assert deviation * value == pytest.approx(np.sqrt(variance) * loss[-1] / l_of_t[-1], rel=1e-6)


def test_without_deviations_it_is_least_squares_of_relative_errors() -> None:
    part = a_part()
    nothing = np.zeros((1, len(part.t_hat), len(part.t_hat)))
    value, _ = krige(part, nothing, 0.0, window(part))
    assert value == pytest.approx(float(np.mean(part.loss[part.window :] / part.template[part.window :])), rel=1e-9)
    assert value == pytest.approx(aligned(part, window(part), 1.0)[LEAST_SQUARES], rel=1e-3)


def test_much_roughness_trusts_the_last_point_alone() -> None:
    part = a_part()
    part.loss[-1] *= 1.03
    rough = 1e4 * Covariances.of(template(), part.t_hat).roughness[None]
    value, _ = krige(part, rough, 0.0, window(part))
    assert value == pytest.approx(part.loss[-1] / part.template[-1], rel=5e-3)
    assert aligned(part, window(part), 1.0)[LEAST_SQUARES] < 0.98 * value


def test_an_unknown_stretch_is_affine_alignment() -> None:
    exact = template()
    stretched = Template(exact.t_hat, 1 + 1.4 * (exact.normalised - 1), "stretched")
    part = part_of(run("a", 3 * stretched.normalised), exact, VALIDATION, 0.4)
    free = 1e4 * Covariances.of(exact, part.t_hat).stretch[None]
    assert krige(part, free, 0.0, window(part))[0] == pytest.approx(3.0, rel=1e-4)
    assert krige(part, 0 * free, 0.4, window(part))[0] == pytest.approx(3.0, rel=1e-9)


def test_drift_is_the_integral_of_a_walk_in_log_t() -> None:
    straight = Template(CELLS, 1 + 0.5 * (1 - CELLS), "a line")
    got = Covariances.of(straight, np.array([0.2, 0.5])).drift

    def expected(t: float, s: float) -> float:
        def walk(x: float, y: float) -> float:
            return 0.25 * min(-np.log(x), -np.log(y))

        return float(dblquad(walk, t, 1, s, 1, epsabs=1e-7)[0])

    assert got == pytest.approx(np.array([[expected(a, b) for b in (0.2, 0.5)] for a in (0.2, 0.5)]), rel=5e-3)


def test_intervals_are_right_for_curves_drawn_from_the_model() -> None:
    exact, random = template(), np.random.default_rng(1)
    t_hat = exact.t_hat[:-1]
    covariances = Covariances.of(exact, t_hat)
    root = np.linalg.cholesky(0.16**2 * covariances.drift + 0.01**2 * covariances.roughness + 1e-12 * np.eye(59))
    z = []
    for _ in range(300):
        deviation = np.append(root @ random.standard_normal(59), 0.0)
        loss = 3 * (exact.normalised + deviation) * (1 + 0.003 * random.standard_normal(60))
        part = part_of(run("a", loss), exact, VALIDATION, 0.3)
        covariance = Covariances.of(exact, part.t_hat).hypotheses(MATCHED)
        value, sd = krige(part, covariance, 0.0, window(part))
        z.append((value / 3 - 1) / sd)
    assert abs(np.mean(z)) < 0.2
    assert 0.85 < np.std(z) < 1.2


def test_a_stretch_of_the_part_is_found_with_its_error() -> None:
    exact = template()
    part = part_of(run("a", 3 * (1 + 1.8 * (exact.normalised - 1))), exact, VALIDATION, 0.4)
    covariance = Covariances.of(exact, part.t_hat).hypotheses(MATCHED)[-1]
    extra, deviation = stretch_found(part, covariance, 0.0)
    assert extra == pytest.approx(0.8, abs=0.02)
    assert 0.05 < deviation < 0.4
