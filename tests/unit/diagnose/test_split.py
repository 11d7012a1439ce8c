from __future__ import annotations

import numpy as np
import pytest

from scaling_collapse.diagnose.split import GAP_FROM, gap, gap_rise
from scaling_collapse.diagnose.stream import Stream
from tests.unit.diagnose.support import STEPS, course, noisy


def streams(train, validation, every=100):
    first, second = Stream.of(STEPS), Stream.of(STEPS)
    for step in range(1, STEPS + 1):
        first.add(float(step), float(train[step - 1]))
    for step in range(every, STEPS + 1, every):
        second.add(float(step), float(validation[step - 1]))
    return first.series(), second.series()


def test_the_training_loss_at_a_validation_is_the_end_of_a_line():
    train, validation = streams(
        noisy(np.random.default_rng(0), course()), noisy(np.random.default_rng(1), 1.1 * course(), 0.004, 0.0)
    )
    seen, values, (noise, freedom) = gap(train, validation)
    assert (seen.stop >= GAP_FROM).all()
    for i in range(len(seen)):
        inside = (train.stop > seen.start[i]) & (train.stop <= seen.stop[i])
        line = np.polyfit(train.fraction[inside] - seen.stop[i], train.value[inside], 1, w=np.sqrt(train.count[inside]))
        assert values[i] == pytest.approx(seen.value[i] - line[1])
    assert np.std(values - np.log(1.1)) == pytest.approx(np.sqrt(noise.mean()), rel=0.5)
    assert (freedom > 0).all()


def test_training_on_while_validation_stops_is_a_rise_of_the_gap():
    t = np.arange(1, STEPS + 1) / STEPS
    rng = np.random.default_rng(1)
    healthy = gap_rise(*streams(noisy(rng, course()), noisy(rng, course(), 0.003)))
    overfit = gap_rise(
        *streams(noisy(rng, course() * (1 - 0.5 * np.clip(t - 0.5, 0, None))), noisy(rng, course(), 0.003))
    )
    assert healthy < 2.5
    assert overfit > 3.5


def test_without_training_losses_between_validations_nothing_is_said():
    train, validation = streams(course(), course())
    assert gap_rise(train.where(np.zeros(len(train), dtype=bool)), validation) == -np.inf
