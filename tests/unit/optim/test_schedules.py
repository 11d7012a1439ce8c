from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from scaling_collapse.config.recipe import Schedule
from scaling_collapse.errors import ConfigError
from scaling_collapse.optim.schedules import learning_rate, learning_rates, warmup_steps

KINDS = ("linear_to_zero", "linear_10x", "constant", "cosine", "wsd")

schedules = st.builds(
    Schedule,
    kind=st.sampled_from(KINDS),
    warmup_fraction=st.floats(0, 0.99),
    warmup_max_tokens=st.none() | st.floats(1, 1e6),
    decay_fraction=st.floats(0.01, 1),
)


def torch_factors(make_scheduler, steps):
    """Factors that a torch scheduler gives to the updates of a run, peak 1."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    scheduler, factors = make_scheduler(optimizer), []
    for _ in range(steps):
        factors.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return factors


@given(schedule=schedules, steps=st.integers(1, 300), batch=st.integers(1, 5000))
def test_factors_rise_to_the_peak_then_never_rise_and_stay_above_zero(schedule, steps, batch):
    factors = learning_rates(schedule, steps, batch)
    assert factors.shape == (steps,)
    assert (factors > 0).all()
    assert (factors <= 1).all()
    peak = max(warmup_steps(schedule, steps, batch), 1) - 1
    assert factors[peak] == 1
    assert (np.diff(factors[: peak + 1]) > 0).all()
    assert (np.diff(factors[peak:]) <= 1e-12).all()


@given(schedule=schedules, steps=st.integers(2, 200), batch=st.integers(1, 5000))
def test_vector_equals_scalars(schedule, steps, batch):
    scalars = [learning_rate(schedule, step, steps, batch) for step in range(1, steps + 1)]
    assert learning_rates(schedule, steps, batch).tolist() == scalars


def test_closed_form_with_warm_up():
    schedule = Schedule(kind="linear_to_zero", warmup_fraction=0.1)
    factors = learning_rates(schedule, 100, 1)
    assert factors[:10].tolist() == pytest.approx([t / 10 for t in range(1, 11)])
    assert factors[9:].tolist() == pytest.approx([(101 - t) / 91 for t in range(10, 101)])


def test_linear_to_zero_reaches_zero_one_step_after_the_last():
    factors = learning_rates(Schedule(), 1000, 1)
    assert factors[-1] == pytest.approx(factors[-2] - factors[-1])


def test_ten_fold_decay_ends_one_step_before_a_tenth():
    factors = learning_rates(Schedule(kind="linear_10x"), 1000, 1)
    assert factors[-1] + (factors[-1] - factors[-2]) == pytest.approx(0.1)


def test_stable_part_and_decay_of_wsd():
    factors = learning_rates(Schedule(kind="wsd", warmup_fraction=0.1, decay_fraction=0.2), 100, 1)
    assert (factors[9:80] == 1).all()
    assert factors[80:].tolist() == pytest.approx([(101 - t) / 21 for t in range(81, 101)])


def test_wsd_that_decays_all_the_time_is_linear_to_zero():
    wsd = learning_rates(Schedule(kind="wsd", decay_fraction=1.0), 77, 1)
    assert wsd.tolist() == pytest.approx(learning_rates(Schedule(), 77, 1).tolist())


def test_warm_up_is_the_shorter_of_fraction_and_tokens():
    # Celerity (section 5): min(10% of tokens, 375M tokens). 300M at 20 TPP: 5.4e9 tokens; 3.9B at 234: 909.2e9.
    celerity = Schedule(warmup_fraction=0.1, warmup_max_tokens=375e6)
    small, large = 176 * 8192, 672 * 8192
    assert warmup_steps(celerity, round(5.4e9 / small), small) == round(375e6 / small)
    assert warmup_steps(celerity, round(909.2e9 / large), large) == round(375e6 / large)
    assert warmup_steps(celerity, 1000, small) == 100


def test_equals_torch_linear_without_warm_up():
    ours = learning_rates(Schedule(kind="linear_to_zero", warmup_fraction=0), 50, 1)
    reference = torch_factors(lambda o: torch.optim.lr_scheduler.LinearLR(o, 1.0, 0.0, total_iters=50), 50)
    assert ours.tolist() == pytest.approx(reference)


def test_equals_torch_cosine_without_warm_up():
    ours = learning_rates(Schedule(kind="cosine", warmup_fraction=0), 50, 1)
    reference = torch_factors(lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, T_max=50), 50)
    assert ours.tolist() == pytest.approx(reference)


def test_equals_torch_ten_fold_decay_without_warm_up():
    ours = learning_rates(Schedule(kind="linear_10x", warmup_fraction=0), 50, 1)
    reference = torch_factors(lambda o: torch.optim.lr_scheduler.LinearLR(o, 1.0, 0.1, total_iters=50), 50)
    assert ours.tolist() == pytest.approx(reference)


def test_equals_torch_constant_with_warm_up():
    # LinearLR from 1/w over w - 1 steps is our t/w.
    ours = learning_rates(Schedule(kind="constant", warmup_fraction=0.2), 50, 1)
    reference = torch_factors(lambda o: torch.optim.lr_scheduler.LinearLR(o, 1 / 10, 1.0, total_iters=9), 50)
    assert ours.tolist() == pytest.approx(reference)


def test_equals_torch_warm_up_then_linear():
    warm, steps = 10, 60

    def make(optimizer):
        rise = torch.optim.lr_scheduler.LinearLR(optimizer, 1 / warm, 1.0, total_iters=warm - 1)
        fall = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, total_iters=steps + 1 - warm)
        return torch.optim.lr_scheduler.SequentialLR(optimizer, [rise, fall], milestones=[warm - 1])

    ours = learning_rates(Schedule(warmup_fraction=warm / steps), steps, 1)
    assert ours.tolist() == pytest.approx(torch_factors(make, steps))


def test_cosine_is_half_in_the_middle():
    assert learning_rate(Schedule(kind="cosine", warmup_fraction=0), 51, 100, 1) == pytest.approx(
        (1 + math.cos(math.pi / 2)) / 2
    )


@pytest.mark.parametrize(("step", "steps"), [(0, 10), (11, 10), (-1, 10)])
def test_steps_outside_the_run_are_errors(step, steps):
    with pytest.raises(ConfigError, match=r"outside the run's steps 1\.\.10"):
        learning_rate(Schedule(), step, steps, 1)


def test_an_empty_run_is_an_error():
    with pytest.raises(ConfigError, match="at least 1"):
        learning_rate(Schedule(), 1, 0, 1)
