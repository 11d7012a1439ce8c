from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaling_collapse.curves.normalise import VALIDATION, Normalisation, normalise, normalised, smoothed_loss
from scaling_collapse.curves.smooth import RAW, Smoothing
from scaling_collapse.errors import CurveError
from tests.unit.curves.support import curve, shape

T = np.arange(1, 1001) / 1000
PLAIN = Normalisation(smoothing=RAW)


@given(scale=st.floats(0.1, 10), offset=st.floats(0, 5))
def test_scale_and_offset_vanish(scale, offset):
    l_T = normalise(offset + scale * shape(T), final=offset + scale, offset=offset)
    assert l_T == pytest.approx(shape(T))
    assert l_T[-1] == pytest.approx(1)


def test_smoothed_curve_ends_at_one():
    noisy = curve(3 * shape(T) * (1 + 0.03 * np.random.default_rng(0).standard_normal(1000)))
    assert normalised(noisy)[-1] == 1


def test_definitions_of_the_final_loss():
    loss = 3 * shape(T)
    loss[-1] = 3.3  # one odd batch at the very end
    assert normalised(curve(loss), Normalisation(smoothing=RAW, final="raw"))[0] == pytest.approx(loss[0] / 3.3)
    assert normalised(curve(loss), Normalisation(smoothing=RAW, final=3.0))[0] == pytest.approx(loss[0] / 3)
    smooth = smoothed_loss(curve(loss))
    assert normalised(curve(loss))[500] == pytest.approx(smooth[500] / smooth[-1])
    assert smooth[-1] == pytest.approx(3.0, abs=0.01)


def test_validation_is_not_smoothed():
    loss = 3 * shape(T[49::50])
    assert normalised(curve(loss), VALIDATION) == pytest.approx(loss / loss[-1])


def test_smoothing_over_steps_and_tokens_is_the_same_here():
    noisy = curve(3 + np.random.default_rng(1).normal(0, 0.1, 1000))
    steps = Normalisation(smoothing=Smoothing(unit="steps", window=100))
    tokens = Normalisation(smoothing=Smoothing(unit="tokens", window=100_000))
    assert normalised(noisy, steps) == pytest.approx(normalised(noisy, tokens))


@pytest.mark.parametrize(("final", "offset"), [(3.0, 3.0), (3.0, 4.0), (np.nan, 0.0), (0.0, 0.0)])
def test_a_final_loss_at_or_below_the_offset_is_an_error(final, offset):
    with pytest.raises(CurveError, match="must exceed the offset"):
        normalise(np.ones(3), final, offset)


def test_an_unfinished_run_has_no_final_loss_unless_it_is_given():
    partial = curve(3 * shape(T)[:500], tokens_total=1e6)
    partial = type(partial)(**{**vars(partial), "t_hat": partial.t_hat / 2})
    with pytest.raises(CurveError, match=r"a: it stops at 50\.0% of its training"):
        normalised(partial)
    assert np.isfinite(normalised(partial, Normalisation(final=3.0))).all()
