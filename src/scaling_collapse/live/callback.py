"""What callbacks share, and the progress of our own trainings: settings, one watch, what is said, when to stop."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

from scaling_collapse.config.recipe import Schedule
from scaling_collapse.curves.curve import Curve
from scaling_collapse.diagnose.alarm import Alarm
from scaling_collapse.diagnose.judge import RATE
from scaling_collapse.live.optimizer import tau_of
from scaling_collapse.live.stop import ends_training, stopping_kinds
from scaling_collapse.live.training_watch import TrainingWatch
from scaling_collapse.live.words import metrics, told
from scaling_collapse.surrogate.stored import StoredSurrogate

Result = TypeVar("Result")


class WatchCallback:
    """Base of the callbacks, and of use by itself.

    `run`, `reference`, `tokens_per_parameter`, `tau`, `schedule`, `surrogate` and `rate` are those of `TrainingWatch`;
    the length of the run and, where it is not given, tau are taken from the trainer.
    `loss` and `validation` name the losses among what the trainer logs. `stop_on_alarm` True ends the training at a
    fault that does not go away by itself (`live/stop.py`); a list of kinds chooses others. `quiet` prints nothing.
    Raises ConfigError for a kind of alarm that there is not.
    """

    def __init__(
        self,
        run: str = "",
        reference: Curve | Sequence[Curve] = (),
        *,
        tokens_per_parameter: float | None = None,
        tau: float | None = None,
        schedule: Schedule | str | None = None,
        surrogate: StoredSurrogate | None = None,
        loss: str = "loss",
        validation: str | None = None,
        stop_on_alarm: bool | Collection[str] = False,
        quiet: bool = False,
        rate: float = RATE,
    ) -> None:
        self.run, self.reference, self.surrogate = run, reference, surrogate
        self.tokens_per_parameter, self.tau, self.schedule, self.rate = tokens_per_parameter, tau, schedule, rate
        self.loss, self.validation, self.quiet = loss, validation, quiet
        self.kinds = stopping_kinds(stop_on_alarm)
        self.watch: TrainingWatch | None = None
        self.stopping = False

    def begin(
        self, run: str, total_steps: float | None, optimizer: Any, schedule: Schedule | None = None
    ) -> TrainingWatch:
        """Start a watch. `schedule` is the trainer's, for the surrogate alone: names in tables of references differ."""
        has_reference = isinstance(self.reference, Curve) or len(self.reference) > 0
        self.stopping = False
        self.watch = TrainingWatch(
            self.run or run or "run",
            total_steps,
            self.reference,
            tokens_per_parameter=self.tokens_per_parameter,
            tau=tau_of(optimizer, total_steps) if self.tau is None else self.tau,
            schedule=schedule if self.schedule is None and not has_reference else self.schedule,
            surrogate=self.surrogate,
            validation=self.validation is not None,
            rate=self.rate,
        )
        return self.watch

    def take(self, step: int, loss: float | None = None, validation: float | None = None) -> list[str]:
        """Feed losses to the watch. Return the lines that tell alarms; `stopping` is set if one ends the training."""

        def look(watch: TrainingWatch) -> list[str]:
            alarms = [] if loss is None else [watch.update(step, loss)]
            alarms += [] if validation is None else [watch.update_validation(step, validation)]
            return [self._heed(alarm) for alarm in alarms if alarm is not None]

        return self._safely(look, [])

    def report(self, step: int) -> tuple[dict[str, float], list[str]]:
        """Return the numbers for experiment loggers, and the progress line of a step."""

        def look(watch: TrainingWatch) -> tuple[dict[str, float], list[str]]:
            total = watch.own.total_steps
            place = f"step {step}{'' if total is None else f'/{total:.0f}'}"
            return metrics(watch.prediction(), watch.alarms), [f"{watch.own.name}: {place}  {watch.line()}"]

        nothing: tuple[dict[str, float], list[str]] = ({}, [])
        return self._safely(look, nothing)

    def line(self) -> str:
        """Return the words for a progress line."""
        return self._safely(lambda watch: watch.line(), "")

    def end(self) -> list[str]:
        """Judge the last losses, when training is over. Return the lines that tell alarms."""
        return self._safely(lambda watch: [self._heed(alarm)] if (alarm := watch.finish()) else [], [])

    def _heed(self, alarm: Alarm) -> str:
        self.stopping = self.stopping or ends_training(alarm, self.kinds)
        return told(alarm)

    def _safely(self, look: Callable[[TrainingWatch], Result], otherwise: Result) -> Result:
        """Look at the watch. If that fails, the watch ends and the training goes on: no run is lost for an onlooker."""
        if self.watch is None:
            return otherwise
        try:
            return look(self.watch)
        except Exception as error:
            self.watch = None
            warnings.warn(f"the watch has failed, training goes on: {type(error).__name__}: {error}", stacklevel=2)
            return otherwise
