"""What is known of a run before it has a loss: enough to hold references against it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from scaling_collapse.config.recipe import Schedule
from scaling_collapse.curves.curve import Curve

UNKNOWN = float("nan")


@dataclass(frozen=True)
class OwnRun:
    """Name, length in optimiser steps, and recipe of a run; None where not known.

    `schedule` is the name that the reference's schedule has in its table, or settings of one of ours.
    """

    name: str
    total_steps: float | None = None
    tokens_per_parameter: float | None = None
    tau: float | None = None
    schedule: Schedule | str | None = None

    @property
    def schedule_name(self) -> str:
        """Name of the schedule, empty where it is not known."""
        return self.schedule.kind if isinstance(self.schedule, Schedule) else self.schedule or ""

    @property
    def warmup(self) -> dict[str, float]:
        """Fraction of training at which warm-up ends, by run, where that is known."""
        return {self.name: self.schedule.warmup_fraction} if isinstance(self.schedule, Schedule) else {}

    def curve(self, steps: np.ndarray, loss: np.ndarray) -> Curve:
        """Return `loss` (n,) [nats] at `steps` (n,) as a curve; its t_hat is NaN where the length is not known."""
        t_hat = np.minimum(steps / (self.total_steps or UNKNOWN), 1.0)
        known = {"tpp": self.tokens_per_parameter, "tau": self.tau, "schedule": self.schedule_name}
        return Curve(self.name, "train", t_hat, loss, steps, np.full_like(steps, np.nan), None, known)

    @property
    def outline(self) -> Curve:
        """A curve of one point, the end of training, for questions about the recipe alone."""
        return self.curve(np.array([self.total_steps or UNKNOWN], dtype=float), np.ones(1))

    def state(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        schedule = self.schedule.model_dump() if isinstance(self.schedule, Schedule) else self.schedule
        return asdict(self) | {"schedule": schedule}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> OwnRun:
        """Return the run that `state` described."""
        schedule = state["schedule"]
        return cls(**(state | {"schedule": Schedule(**schedule) if isinstance(schedule, dict) else schedule}))
