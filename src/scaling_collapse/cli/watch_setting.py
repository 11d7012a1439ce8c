"""What the runs of a log are watched with: length, rate of false alarms, recipe, and finished runs to hold against."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scaling_collapse.curves.curve import RUN_COLUMNS, Curve
from scaling_collapse.diagnose.family_reference import nearest_first
from scaling_collapse.diagnose.judge import RATE
from scaling_collapse.errors import CurveError
from scaling_collapse.live.training_watch import TrainingWatch


@dataclass(frozen=True)
class Setting:
    """Settings for all runs of a log; None is "as the log says, else not known".

    `references` are finished runs, of which each run is held against the one that fits best; `named` says that the
    user chose the only one.
    """

    total_steps: float | None = None
    rate: float = RATE
    references: Sequence[Curve] = ()
    named: bool = False
    tokens_per_parameter: float | None = None
    tau: float | None = None
    schedule: str | None = None

    def watch(self, run: str, validation: bool, length: float | None, facts: Mapping[str, Any]) -> TrainingWatch:
        """Return the watch of a run of `length` steps with `facts`, columns of the tidy table.

        Raises CurveError where a reference is held against a run of unknown length or another schedule.
        """
        own = self.outline(run, facts)
        reference = self.reference(own)
        if reference is not None and length is None:
            raise CurveError(run, "its length is not known, as a reference needs.", "give it with --steps")
        return TrainingWatch(
            run,
            length,
            () if reference is None else reference,
            tokens_per_parameter=_or_none(own.tpp),
            tau=_or_none(own.tau),
            schedule=str(own.facts.get("schedule") or "") or None,
            validation=validation,
            rate=self.rate,
        )

    def reference(self, own: Curve) -> Curve | None:
        """Return the finished run to hold a run against; None without one, or where none has its schedule.

        One that the user named is taken as it is.
        """
        if self.named:
            return next((curve for curve in self.references if curve.run != own.run), None)
        return next(iter(nearest_first(own, self.references)), None)

    def why_alone(self, run: str, facts: Mapping[str, Any]) -> str:
        """Return why a run is held against none of the references, in words; nothing where it is, or none is given."""
        own = self.outline(run, facts)
        if not self.references or self.reference(own) is not None:
            return ""
        if all(curve.run == run for curve in self.references):
            return "it is the reference itself, so only rises of its loss are told"
        return f"no reference has its schedule, {own.facts.get('schedule')}, so only rises of its loss are told"

    def length(self, facts: Mapping[str, Any], step: float, tokens: float) -> float | None:
        """Return the length of a run [steps] that had seen `tokens` at `step`; None where nothing tells it."""
        if self.total_steps is not None:
            return self.total_steps
        total = _number(facts.get("tokens_total"))
        steps = step * total / tokens if tokens > 0 and math.isfinite(total) else math.nan
        return steps if math.isfinite(steps) and steps > 0 else None

    def outline(self, run: str, facts: Mapping[str, Any]) -> Curve:
        """Return a curve of one point that holds what is known of a run's recipe."""
        given = {"tpp": self.tokens_per_parameter, "tau": self.tau, "schedule": self.schedule}
        known = dict.fromkeys(RUN_COLUMNS) | dict(facts) | {name: v for name, v in given.items() if v is not None}
        one = np.ones(1)
        return Curve(run, "train", one, one, one, one, None, known)


def _number(value: Any) -> float:
    try:
        return math.nan if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) and value > 0 else None
