from __future__ import annotations

import numpy as np
import pytest

from scaling_collapse.curves.family import on_grid
from scaling_collapse.curves.noise import residual_noise
from scaling_collapse.curves.normalise import Normalisation
from scaling_collapse.curves.smooth import Smoothing
from scaling_collapse.errors import CurveError
from tests.unit.curves.support import curve, shape

POINTS = 2500
T = np.arange(1, POINTS + 1) / POINTS
TRUTH = 3 * shape(T)


def noisy(rng, correlated=0):
    noise = rng.standard_normal(POINTS)
    if correlated:
        noise = np.convolve(rng.standard_normal(POINTS + correlated), np.ones(correlated + 1), "valid")
        noise /= np.sqrt(correlated + 1)
    return curve(TRUTH * (1 + 0.03 * noise))


@pytest.mark.parametrize("smoothing", [Smoothing(), Smoothing(window=0.05), Smoothing(kind="centred", window=0.05)])
@pytest.mark.parametrize("final", ["smoothed", "raw", 3.0])
def test_noise_of_one_curve_is_that_of_many_repeats(smoothing, final):
    rng, normalisation = np.random.default_rng(0), Normalisation(smoothing=smoothing, final=final)
    repeats = on_grid([noisy(rng) for _ in range(200)], normalisation)
    true_noise = 100 * np.sqrt(np.mean(repeats.var(axis=0, ddof=1)))
    found = np.mean([np.mean(residual_noise(noisy(rng), normalisation, seed=i) ** 2) for i in range(8)])
    assert np.sqrt(found) == pytest.approx(true_noise, rel=0.2)


def test_short_correlations_are_noticed():
    white, correlated = (
        np.mean([residual_noise(noisy(np.random.default_rng(i), c)).mean() for i in range(6)]) for c in (0, 3)
    )
    assert correlated > 1.6 * white  # means over 4 neighbours of one variance are 2 times as noisy after smoothing


def test_a_smooth_curve_has_next_to_no_noise_and_the_number_is_repeatable():
    assert residual_noise(curve(TRUTH)).mean() < 0.02
    one = noisy(np.random.default_rng(1))
    assert (residual_noise(one) == residual_noise(one)).all()


def test_too_few_points():
    with pytest.raises(CurveError, match="too few to tell noise"):
        residual_noise(curve(TRUTH[::200]))
