"""Faults of the log itself: steps that go back, several runs in one file, steps written twice, losses that are none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from scaling_collapse.diagnose.alarm import Kind

#: What to do with a point: use it, leave it out, forget what came from its step on, or forget everything.
Verdict = Literal["use", "skip", "rewind", "restart"]

#: So many losses in a row that are not finite end a training; fewer are gaps of its log.
LOST_POINTS = 3


@dataclass
class LogCheck:
    """What has to be remembered of a log to tell its faults. Losses are natural logarithms."""

    first_step: float | None = None
    first_loss: float = 0.0
    last_step: float = 0.0
    last_loss: float = 0.0
    not_finite: int = 0
    not_finite_from: float = 0.0
    told_duplicates: bool = False
    told_not_finite: bool = False

    def __call__(self, step: float, loss: float) -> tuple[Verdict, Kind | None, str]:
        """Return what to do with a point, and the kind and evidence of the fault, if it shows one.

        A step that goes back to the beginning, with a loss nearer to the first one than to the last, begins another
        run; any other step that goes back is a restart, which overwrites. Duplicates and gaps are told once.
        """
        if not (math.isfinite(loss) and loss > 0 and math.isfinite(step)):
            return self._without_loss(step, loss)
        self.not_finite = 0
        value, before, loss_before = math.log(loss), self.last_step, self.last_loss
        if self.first_step is None:
            self.first_step, self.first_loss = step, value
        elif step == before:
            told, self.told_duplicates = self.told_duplicates, True
            return "skip", None if told else "duplicated_steps", f"step {step:g} is there more than once"
        self.last_step, self.last_loss = step, value
        if step >= before:
            return "use", None, ""
        if step <= self.first_step + 1 and abs(value - self.first_loss) < abs(value - loss_before):
            self.first_step, self.first_loss = step, value
            return "restart", "several_runs", f"after step {before:g} another run begins at step {step:g}"
        return "rewind", "step_reset", f"step {step:g} follows step {before:g}: a restart that overwrites"

    def _without_loss(self, step: float, loss: float) -> tuple[Verdict, Kind | None, str]:
        step = step if math.isfinite(step) else self.last_step
        self.not_finite += 1
        if self.not_finite == 1:
            self.not_finite_from = step
        if self.not_finite == LOST_POINTS:
            return "skip", "divergence", f"the loss is {loss} from step {self.not_finite_from:g} on"
        told, self.told_not_finite = self.told_not_finite, True
        return "skip", None if told else "not_a_number", f"the loss is {loss} at step {step:g}"
