"""The progress of one of our own trainings, with the alarm and the predicted final loss in it."""

from __future__ import annotations

import signal
from collections.abc import Collection, Sequence
from pathlib import Path

from scaling_collapse.curves.curve import Curve
from scaling_collapse.diagnose.alarm import Alarm
from scaling_collapse.errors import CurveError
from scaling_collapse.live.siblings import smaller_siblings
from scaling_collapse.live.stop import ends_training, stopping_kinds
from scaling_collapse.live.training_watch import TrainingWatch
from scaling_collapse.live.words import told
from scaling_collapse.plan.run import Run
from scaling_collapse.train.outcome import Outcome
from scaling_collapse.train.progress import LinePrinter


class WatchedProgress:
    """Prints the lines of `LinePrinter` with the watch's words, and each alarm on a line of its own.

    `stop_on_alarm` says which alarms end the training (as in `live.stop`): it writes a checkpoint first, as after
    SIGTERM, and the same command goes on from there. Raises ConfigError for a kind of alarm that there is not.
    """

    def __init__(
        self, run: Run, finished: Sequence[Curve], every_seconds: float, stop_on_alarm: bool | Collection[str] = False
    ) -> None:
        self.watch = TrainingWatch(
            run.run_id,
            run.steps,
            finished,
            tokens_per_parameter=run.tpp,
            tau=run.tau,
            schedule=run.schedule,
            validation=True,
        )
        self._lines = LinePrinter(run.run_id, every_seconds, remark=self.watch.line)
        self._kinds = stopping_kinds(stop_on_alarm)

    def said(self, text: str) -> None:
        """Print a remark."""
        self._lines.said(text)

    def started(self, run: Run, losses: Sequence[float]) -> None:
        """Print the first line, and the alarms of the steps that are done already; these end nothing."""
        self._lines.started(run, losses)
        for step, loss in enumerate(losses, 1):
            self._tell(self.watch.update(step, loss))

    def stepped(self, step: int, loss: float, learning_rate: float) -> None:
        """Watch a step."""
        alarm = self.watch.update(step, loss)
        self._lines.stepped(step, loss, learning_rate)
        self._act(alarm)

    def validated(self, step: int, loss: float) -> None:
        """Watch a held-out loss."""
        self._act(self.watch.update_validation(step, loss))

    def finished(self, outcome: Outcome) -> None:
        """Print what the last steps show, and the last line."""
        self._tell(self.watch.finish())
        self._lines.finished(outcome)

    def _tell(self, alarm: Alarm | None) -> None:
        if alarm is not None:
            self._lines.said(told(alarm))

    def _act(self, alarm: Alarm | None) -> None:
        self._tell(alarm)
        if alarm is not None and ends_training(alarm, self._kinds):
            self._lines.said("stops after a checkpoint, as it was told to on such an alarm")
            signal.raise_signal(signal.SIGTERM)


def watched_progress(
    run: Run, reference: Path | None, usual: Path, every_seconds: float, stop_on_alarm: bool = False
) -> WatchedProgress:
    """Return a run's progress, held against smaller siblings in `reference`, or else in `usual` if it is there.

    What is wrong with `usual` is said. Raises CurveError for a `reference` that cannot be read, or without a sibling.
    """
    if reference is not None:
        finished = smaller_siblings(run, reference)
        if not finished:
            problem = f"it has no finished run that is smaller than {run.run_id} and was trained alike."
            raise CurveError(str(reference), problem, "name another table, or leave --reference out")
        return WatchedProgress(run, finished, every_seconds, stop_on_alarm)
    try:
        finished = smaller_siblings(run, usual) if usual.exists() else []
        return WatchedProgress(run, finished, every_seconds, stop_on_alarm)
    except CurveError as error:
        progress = WatchedProgress(run, (), every_seconds, stop_on_alarm)
        progress.said(f"is held against no other run: {error}")
        return progress
