"""Learning-rate schedules (sections 4 and 5, Fig 10), as factors of the peak learning rate.

Steps count 1..T. Warm-up takes w whole steps and is linear: factor t/w, so step w runs at the peak. The decay
then starts from the peak step a = max(w, 1) and ends at step T+1, one after the last: with the progress
p = (t-a)/(T+1-a), linear to zero is 1-p, linear 10x is 1-0.9p, cosine (to zero) is (1+cos(pi p))/2. So the
curve is continuous, no update runs at factor 0, and the last one of linear to zero runs at 1/(T+1-a).
Without warm-up this equals torch's LinearLR(1, 0, T) and CosineAnnealingLR(T).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scaling_collapse.config.recipe import Schedule
from scaling_collapse.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np

#: The "10x" of the schedule's name: it ends at a tenth of the peak (Fig 10).
FINAL_FACTOR_10X = 0.1


def warmup_steps(schedule: Schedule, steps: int, batch_tokens: int) -> int:
    """Return the whole number of warm-up steps: a fraction of the run, but at most `warmup_max_tokens` (section 5)."""
    warmup = schedule.warmup_fraction * steps
    if schedule.warmup_max_tokens is not None:
        warmup = min(warmup, schedule.warmup_max_tokens / batch_tokens)
    return round(warmup)


def learning_rate(schedule: Schedule, step: int, steps: int, batch_tokens: int) -> float:
    """Return the factor of the peak, above 0 and up to 1, at which `step` (1..`steps`) runs.

    `batch_tokens` [tokens] turns a warm-up in tokens into steps. Raises ConfigError outside the run.
    """
    if steps < 1 or batch_tokens < 1:
        raise ConfigError("schedule", f"{steps} steps of {batch_tokens} tokens; both must be at least 1.")
    if not 1 <= step <= steps:
        raise ConfigError("schedule", f"step {step} lies outside the run's steps 1..{steps}.")
    warmup = warmup_steps(schedule, steps, batch_tokens)
    if step < warmup:
        return step / warmup
    return _decay(schedule, step, steps, peak_step=max(warmup, 1))


def learning_rates(schedule: Schedule, steps: int, batch_tokens: int) -> np.ndarray:
    """Return the factors of all steps 1..`steps`, float64 of shape (steps,)."""
    import numpy as np

    factors = (learning_rate(schedule, step, steps, batch_tokens) for step in range(1, steps + 1))
    return np.fromiter(factors, dtype=np.float64, count=steps)


def _decay(schedule: Schedule, step: int, steps: int, peak_step: int) -> float:
    """Return the factor from the peak on: 1 at `peak_step`, the schedule's final value at `steps`+1."""
    end = steps + 1
    progress = (step - peak_step) / (end - peak_step)
    match schedule.kind:
        case "linear_to_zero":
            return 1 - progress
        case "linear_10x":
            return 1 - (1 - FINAL_FACTOR_10X) * progress
        case "cosine":
            return (1 + math.cos(math.pi * progress)) / 2
        case "wsd":
            decay_from = max(peak_step, steps - round(schedule.decay_fraction * steps))
            return min(1.0, (end - step) / (end - decay_from))
        case "constant":
            return 1.0
