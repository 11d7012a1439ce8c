"""What counts as divergence, and what does not."""

from __future__ import annotations

import math

import pytest

from scaling_collapse.train.divergence import DivergenceRule

VOCABULARY = 1024
UNIFORM = math.log(VOCABULARY)


def first_fault(losses: list[float], warmup_steps: int = 30) -> int | None:
    """The step at which the rule fires, or None."""
    rule = DivergenceRule(VOCABULARY, warmup_steps)
    for step, loss in enumerate(losses, start=1):
        if rule.fault(step, loss, gradient_norm=1.0):
            return step
    return None


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_not_finite_fires_at_once(bad: float) -> None:
    assert first_fault([UNIFORM, 5.0, bad]) == 3
    assert "gradient norm of step 1" in str(DivergenceRule(VOCABULARY, 30).fault(1, 5.0, bad))


def test_a_healthy_curve_and_a_spike_that_recovers_do_not_fire() -> None:
    losses = [3.5 + (UNIFORM - 3.5) / (1 + step / 20) for step in range(500)]
    losses[200:210] = [9.0] * 10
    assert first_fault(losses) is None


def test_a_loss_that_stays_above_uniform_guessing_fires_after_warm_up_only() -> None:
    blown_up = [UNIFORM] * 10 + [UNIFORM + 3] * 200
    assert first_fault(blown_up, warmup_steps=100) == 101
    assert first_fault([UNIFORM] * 200 + [UNIFORM + 3] * 100, warmup_steps=30) == pytest.approx(204, abs=1)
    assert first_fault(blown_up[:20], warmup_steps=0) is None


def test_a_high_start_raises_the_limit() -> None:
    assert first_fault([UNIFORM + 2] * 100) is None
    assert first_fault([UNIFORM + 0.4] * 100) is None


def test_a_resumed_rule_decides_as_the_uninterrupted_one() -> None:
    losses = [UNIFORM] * 100 + [UNIFORM + 3] * 10
    at = first_fault(losses)
    assert at is not None
    resumed = DivergenceRule(VOCABULARY, 30, losses[: at - 1])
    assert resumed.fault(at, losses[at - 1], 1.0)
    assert not DivergenceRule(VOCABULARY, 30, losses[: at - 2]).fault(at - 1, losses[at - 2], 1.0)
