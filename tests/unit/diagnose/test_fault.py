from __future__ import annotations

import numpy as np
import pytest

from scaling_collapse.diagnose.fault import assess, kind_of
from scaling_collapse.diagnose.whiten import WANDER
from tests.unit.diagnose.support import after, course

BINS = 200
FRACTION, COUNT = np.arange(1, BINS + 1) / BINS, np.full(BINS, 10.0)
RNG = np.random.default_rng(0)


def found(factor, end=BINS, told=130, reference=True):
    """Assess a fault in a run of which `end` bins are known."""
    values = np.log(factor * (1.0 if reference else course(FRACTION)))
    values = values + 0.003 * np.random.default_rng(0).standard_normal(BINS)
    part = slice(0, end)
    return assess(values[part], COUNT[part], FRACTION[part], told, WANDER, falling=not reference)


def pulse(length, size=0.1):
    return 1 + size * ((FRACTION > 0.6) & (0.6 + length >= FRACTION))


def test_a_short_rise_that_goes_away_is_a_recovered_spike():
    fault = found(pulse(0.03), reference=False)
    assert fault.recovered
    assert kind_of(fault, rose=True) == "spike"
    assert FRACTION[fault.onset.index] == pytest.approx(0.605, abs=0.006)


def test_a_rise_that_stays_or_grows_is_a_divergence():
    for factor in (1 + 0.4 * (FRACTION > 0.6), after(FRACTION, 0.6, 0.8)):
        fault = found(factor, reference=False)
        assert not fault.recovered
        assert kind_of(fault, rose=True) == "divergence"
        assert fault.excess > 0.05


def test_a_rise_that_comes_back_half_way_is_an_open_spike():
    factor = 1 + 0.4 * (FRACTION > 0.6) * np.exp(-(FRACTION - 0.6) / 0.1)
    fault = found(factor, end=180, reference=True)
    assert fault.coming_back
    assert kind_of(fault, rose=True) == "spike"


def test_too_little_is_known_at_first():
    assert kind_of(found(1 + 0.4 * (FRACTION > 0.6), end=125, told=122, reference=False), rose=True) == "spike"


def test_a_residual_that_leaves_while_the_loss_falls_is_a_drift():
    fault = found(after(FRACTION, 0.6, 0.06), told=160)
    assert kind_of(fault, rose=False) == "drift"
    assert fault.excess == pytest.approx(0.06 * 0.83, rel=0.2)  # mean of the last third


def test_a_residual_that_leaves_from_the_start_is_slow_convergence():
    fault = found(1 + 0.06 * FRACTION, told=60)
    assert fault.at_start
    assert kind_of(fault, rose=False) == "slow_convergence"
