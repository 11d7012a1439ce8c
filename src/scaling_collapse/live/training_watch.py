"""Alarm and predicted final loss of one run while it trains: a few lines in any loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scaling_collapse.config.recipe import Schedule
from scaling_collapse.curves.curve import Curve
from scaling_collapse.diagnose.alarm import Alarm
from scaling_collapse.diagnose.judge import RATE
from scaling_collapse.diagnose.log import LOST_POINTS
from scaling_collapse.diagnose.monitor import Monitor
from scaling_collapse.errors import CurveError
from scaling_collapse.live.own_run import OwnRun
from scaling_collapse.live.references import alarm_reference, prediction_template
from scaling_collapse.live.words import progress_line
from scaling_collapse.predict.by_surrogate import FOREIGN_NOTE
from scaling_collapse.predict.predict import Settings, predict_run
from scaling_collapse.predict.prediction import Prediction
from scaling_collapse.predict.template import Template
from scaling_collapse.surrogate.form import PAPER
from scaling_collapse.surrogate.stored import StoredSurrogate, published_surrogate

#: Nothing is predicted before this fraction of training: intervals were measured from there on (docs/predict.md).
PREDICT_FROM = 0.1


class TrainingWatch:
    """Watches one run: losses go in as they come, alarms and predictions come out. Needs no torch.

    `total_steps` is the length of the run in optimiser steps; without it rises of the loss are told, but nothing can be
    predicted or compared. `reference` is a finished run of the same recipe, or several, whose mean is then taken.
    Without one, `tau`, `tokens_per_parameter` and a `schedule` whose kind config/recipe knows let a surrogate predict:
    `surrogate` is one of your own (`read_surrogate`), else the published one, whose intervals are wide. With a
    reference the three say where the run differs from it; without `tokens_per_parameter` intervals are wider.
    `validation` says that validation losses will come, `rate` is the probability of a false alarm in a healthy run.

    The memory is some hundred bins, however long the run is. Raises CurveError for a reference that cannot be held
    against the run (no length, not finished, another schedule), ConfigError for a rate that cannot be held.
    """

    def __init__(
        self,
        run: str,
        total_steps: float | None = None,
        reference: Curve | Sequence[Curve] = (),
        *,
        tokens_per_parameter: float | None = None,
        tau: float | None = None,
        schedule: Schedule | str | None = None,
        surrogate: StoredSurrogate | None = None,
        validation: bool = False,
        rate: float = RATE,
    ) -> None:
        self.own = OwnRun(run, total_steps, tokens_per_parameter, tau, schedule)
        finished = [reference] if isinstance(reference, Curve) else list(reference)
        self._surrogate = published_surrogate(PAPER, "train") if surrogate is None else surrogate
        self._reference = alarm_reference(self.own, finished, surrogate)
        self.monitor = Monitor(run, total_steps, self._reference, rate, validation)
        self.template: Template | None = prediction_template(self.own, finished, self._surrogate)
        self._by_surrogate = not finished
        self._predicted_from: tuple[int, float] | None = None
        self._prediction: Prediction | None = None

    @property
    def alarms(self) -> list[Alarm]:
        """All alarms so far, as they stand now."""
        return self.monitor.alarms

    def update(self, step: float, loss: float) -> Alarm | None:
        """Take the training loss [nats] of an optimiser step, or the mean over the steps since the last call.

        Return an alarm that is new or has changed (its kind, or that it is over), else None.
        """
        return self.monitor.update(step, loss)

    def update_validation(self, step: float, loss: float) -> Alarm | None:
        """Take a validation loss [nats], after the training losses up to its step. Return a new alarm, else None.

        Raises CurveError where validation losses were not announced.
        """
        return self.monitor.update_validation(step, loss)

    def finish(self) -> Alarm | None:
        """Judge what the last bin holds, when training is over. Return an alarm that is new or has changed."""
        return self.monitor.finish()

    @property
    def diverged(self) -> bool:
        """Whether the loss is no number any more, or stays far above its level before."""
        fault = self.monitor.fault
        lost = self.monitor.log.not_finite >= LOST_POINTS
        return lost or (fault is not None and self.alarms[fault.alarm].kind == "divergence")

    def prediction(self) -> Prediction | None:
        """Return the predicted final training loss from what is known so far, worked out anew only if a bin is new.

        None where there is no template, too little of the run, or a run that has diverged.
        """
        if self.template is None or self.diverged:
            return None
        bins = self.monitor.train.bins
        known = (len(bins), bins.last_step[-1] if len(bins) else 0.0)
        if known != self._predicted_from:
            self._predicted_from, self._prediction = known, self._predict(self.template)
        return self._prediction

    def line(self) -> str:
        """Return a few words for a progress line: `final 3.061 (3.022 to 3.101)  no alarm`."""
        return progress_line(self.prediction(), self.alarms, self.template is not None and not self.diverged)

    def state(self) -> dict[str, Any]:
        """Return all that the watch remembers, ready for JSON; references and surrogate are not in it."""
        return {"own": self.own.state(), "monitor": self.monitor.state()}

    @classmethod
    def from_state(
        cls,
        state: dict[str, Any],
        reference: Curve | Sequence[Curve] = (),
        surrogate: StoredSurrogate | None = None,
    ) -> TrainingWatch:
        """Return the watch that `state` described, so that a resumed training goes on with it.

        Needs the same references and surrogate again; raises CurveError for others.
        """
        own, monitor = OwnRun.from_state(state["own"]), state["monitor"]
        watch = cls(
            own.name,
            own.total_steps,
            reference,
            tokens_per_parameter=own.tokens_per_parameter,
            tau=own.tau,
            schedule=own.schedule,
            surrogate=surrogate,
            validation=monitor["with_validation"],
            rate=monitor["rate"],
        )
        watch.monitor = Monitor.from_state(monitor, watch._reference)
        return watch

    def _predict(self, template: Template) -> Prediction | None:
        series = self.monitor.train.series()
        if not len(series) or series.fraction[-1] < PREDICT_FROM:
            return None
        curve = self.own.curve(series.step, np.exp(series.value))
        try:
            found = predict_run(curve, template, settings=Settings(warmup=self.own.warmup))
        except CurveError:
            return None
        return found.with_warning(*self._notes(template)) if self._by_surrogate else found

    def _notes(self, template: Template) -> tuple[str, ...]:
        foreign = (FOREIGN_NOTE,) if self._surrogate.foreign else ()
        return (*foreign, *self._surrogate.range_notes(template.tau, template.tpp))
