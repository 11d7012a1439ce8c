from __future__ import annotations

import numpy as np
import pytest

from scaling_collapse.config.scale import Analysis
from scaling_collapse.curves.analysis import grid_of, normalisation_of
from scaling_collapse.curves.irreducible import fit_irreducible_loss
from scaling_collapse.curves.normalise import VALIDATION, Normalisation, normalised
from scaling_collapse.curves.smooth import RAW, Smoothing
from scaling_collapse.errors import CurveError
from tests.unit.curves.support import curve, shape


def test_grid():
    assert grid_of(Analysis(t_hat_min=0.1, t_hat_max=0.9, grid_points=5)) == pytest.approx([0.1, 0.3, 0.5, 0.7, 0.9])


@pytest.mark.parametrize(
    ("settings", "smoothing"),
    [
        ({}, Smoothing()),
        ({"smoothing_steps": 100}, Smoothing(unit="steps", window=100.0)),
        ({"smoothing_sequences": 12288}, Smoothing(unit="tokens", window=12288.0 * 128)),
    ],
)
def test_smoothing(settings, smoothing):
    assert normalisation_of(Analysis(**settings), sequence_length=128) == Normalisation(smoothing=smoothing)
    assert normalisation_of(Analysis(**settings), "validation") == VALIDATION


def test_irreducible_offset_comes_from_the_table():
    how = normalisation_of(Analysis(offset="irreducible"), "validation")
    loss = 1.5 + 2 * shape(np.arange(1, 201) / 200)
    assert normalised(curve(loss, irreducible_nats=1.5), how) == pytest.approx(shape(np.arange(1, 201) / 200))
    with pytest.raises(CurveError, match="irreducible loss of its text is not known"):
        normalised(curve(loss), how)


def test_windows_in_sequences_need_their_length():
    with pytest.raises(CurveError, match="sequence length is not known"):
        normalisation_of(Analysis(smoothing_sequences=10))


def test_irreducible_loss_of_a_known_family():
    t_hat = np.arange(1, 201) / 200
    final = [1.7 + 30 * (n * 20 * n) ** -0.1 for n in (1e5, 2e5, 5e5, 1e6, 4e6)]
    curves = [curve(l_T * shape(t_hat), size_params=n, tokens_total=20 * n)
              for n, l_T in zip((1e5, 2e5, 5e5, 1e6, 4e6), final, strict=True)]  # fmt: skip
    fit = fit_irreducible_loss(curves, Normalisation(smoothing=RAW))
    assert fit.offset == pytest.approx(1.7, rel=1e-3)
    assert fit.exponent == pytest.approx(-0.1, rel=1e-3)
    with pytest.raises(CurveError, match="at least three"):
        fit_irreducible_loss(curves[:2])
