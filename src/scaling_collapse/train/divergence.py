"""When a run counts as diverged. The paper gives no rule; ours must never fire on a spike that recovers.

1. The loss or the gradient norm is not finite; or
2. after warm-up, the smoothed loss is `MARGIN` above both the first loss and ln(vocabulary), the loss of guessing
   uniformly: the model is worse than one that learnt nothing.

The state follows from the losses alone, so a resumed run rebuilds it from its log.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

#: Nats above uniform guessing. Healthy starts are within 0.1 nats of it, runs that blew up are nats above.
MARGIN = 0.5
#: Steps over which the loss is smoothed (exponential moving average), so that one bad batch decides nothing.
SMOOTHING_STEPS = 20


class DivergenceRule:
    """Follows the losses of one run."""

    def __init__(self, vocabulary: int, warmup_steps: int, losses: Iterable[float] = ()) -> None:
        self._first_step = max(warmup_steps, SMOOTHING_STEPS)
        self._limit = math.log(vocabulary) + MARGIN
        self._smoothed: float | None = None
        for step, loss in enumerate(losses, start=1):
            self.fault(step, loss, gradient_norm=0.0)

    def fault(self, step: int, loss: float, gradient_norm: float) -> str | None:
        """Take the loss [nats] of `step` (every step once, in order); return why the run diverged, or None."""
        if not math.isfinite(loss):
            return f"the loss of step {step} is {loss}"
        if not math.isfinite(gradient_norm):
            return f"the gradient norm of step {step} is {gradient_norm}"
        if self._smoothed is None:
            self._smoothed = loss
            self._limit = max(self._limit, loss + MARGIN)
        self._smoothed += (loss - self._smoothed) / SMOOTHING_STEPS
        if step > self._first_step and self._smoothed > self._limit:
            return f"the smoothed loss of step {step} is {self._smoothed:.3f}, above its limit {self._limit:.3f}"
        return None
