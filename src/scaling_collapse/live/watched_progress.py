"""The progress of one of our own trainings, with the alarm and the predicted final loss in it."""

from __future__ import annotations

import signal
from collections.abc import Collection, Sequence
from pathlib import Path

from scaling_collapse.curves.curve import Curve
from scaling_collapse.errors import CurveError
from scaling_collapse.live.callback import WatchCallback
from scaling_collapse.live.siblings import smaller_siblings
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
        self._watched = WatchCallback(
            run.run_id,
            finished,
            tokens_per_parameter=run.tpp,
            tau=run.tau,
            schedule=run.schedule,
            validation="held-out loss",
            stop_on_alarm=stop_on_alarm,
        )
        self._watched.begin(run.run_id, run.steps, optimizer=None)
        self._lines = LinePrinter(run.run_id, every_seconds, remark=self._watched.line)

    def said(self, text: str) -> None:
        """Print a remark."""
        self._lines.said(text)

    def started(self, run: Run, losses: Sequence[float]) -> None:
        """Print the first line, and the alarms of the steps that are done already; these end nothing."""
        self._lines.started(run, losses)
        for step, loss in enumerate(losses, 1):
            self._tell(self._watched.take(step, loss))
        self._watched.stopping = False

    def stepped(self, step: int, loss: float, learning_rate: float) -> None:
        """Watch a step."""
        told = self._watched.take(step, loss)
        self._lines.stepped(step, loss, learning_rate)
        self._act(told)

    def validated(self, step: int, loss: float) -> None:
        """Watch a held-out loss."""
        self._act(self._watched.take(step, validation=loss))

    def finished(self, outcome: Outcome) -> None:
        """Print what the last steps show, and the last line."""
        self._tell(self._watched.end())
        self._lines.finished(outcome)

    def _tell(self, told: list[str]) -> None:
        for line in told:
            self._lines.said(line)

    def _act(self, told: list[str]) -> None:
        self._tell(told)
        if self._watched.stopping:
            self._watched.stopping = False
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
