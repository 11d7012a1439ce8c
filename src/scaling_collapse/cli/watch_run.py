"""One run of a log under watch: which of its losses are judged, and what was seen of it so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from scaling_collapse.diagnose.alarm import Alarm
from scaling_collapse.diagnose.monitor import Monitor
from scaling_collapse.live.training_watch import TrainingWatch
from scaling_collapse.live.words import told
from scaling_collapse.logs.choose import TRAIN
from scaling_collapse.logs.names import is_validation

#: A log that has written so many validation losses and none of training is watched by them.
ALONE = 5

#: A run is longer than was said from so many times its length on; the last step may be counted from 0 or 1.
BEYOND = 1.01

#: Notes on the log of one kind that are told of each run: a log out of order has them without end.
TOLD_NOTES = 5

#: Makes the watch of a run; the argument says whether validation losses may come.
MakeWatch = Callable[[bool], TrainingWatch]


class WatchedRun:
    """Losses of any split go in. The training losses are judged, and the first validation losses beside them.

    Of a run that has no training losses the first split is judged. `splits` are all that the run has, where that is
    known; without it validation losses wait until it is clear what they are. `before` are alarms of the log itself.
    `against` says what the run is held against.
    """

    def __init__(self, make: MakeWatch, splits: Sequence[str] = (), before: Sequence[Alarm] = ()) -> None:
        self.before = tuple(before)
        self.main, self.held_out = _roles(splits)
        self._make = make
        self.watch = make(not splits or self.held_out is not None)
        reference = self.watch.monitor.judge.reference
        self.against = () if reference is None else (f"held against {reference.source}", *reference.notes)
        self.last: dict[str, tuple[float, float]] = {}
        self.losses = 0
        self._waiting: list[tuple[str, float, float]] = []

    def take(self, split: str, step: float, loss: float) -> None:
        """Take a loss, in the order of the log."""
        self.last[split] = (step, loss)
        self.losses += 1
        if self.main is None and is_validation(split):
            self._waiting.append((split, step, loss))
            if len(self._waiting) >= ALONE:
                self._settle(self._waiting[0][0])
            return
        if self.main is None:
            self._settle(split)
        elif is_validation(self.main) and not is_validation(split):
            self.main, self.watch = split, self._make(True)
        if split == self.main:
            self.watch.update(step, loss)
        elif is_validation(split) and self.held_out in (None, split) and not is_validation(str(self.main)):
            self.held_out = split
            self.watch.update_validation(step, loss)

    def end(self) -> None:
        """The log is complete: judge what is left."""
        if self.main is None and self._waiting:
            self._settle(self._waiting[0][0])
        self.watch.finish()

    @property
    def alarms(self) -> list[Alarm]:
        """All alarms so far, those of the log itself first."""
        return [*self.before, *self.watch.alarms]

    @property
    def beyond(self) -> str:
        """That the run is longer than was said, in words: fractions and comparisons are wrong then. Nothing if not."""
        total = self.watch.monitor.total_steps
        step = max((step for step, _ in self.last.values()), default=0.0)
        return f"step {step:.0f} lies beyond its {total:g} steps" if total is not None and step > BEYOND * total else ""

    def snapshot(self) -> dict[str, Any]:
        """Return what `restore` needs to take back all that came since."""
        return {"monitor": self.watch.monitor.state(), "last": dict(self.last), "losses": self.losses}

    def restore(self, state: dict[str, Any]) -> None:
        """Be as at the snapshot."""
        self.watch.monitor = Monitor.from_state(state["monitor"], self.watch.monitor.judge.reference)
        self.last, self.losses = state["last"], state["losses"]

    def _settle(self, main: str) -> None:
        """Judge `main` from now on, and hand on what has waited."""
        self.main = main
        waiting, self._waiting = self._waiting, []
        self.losses -= len(waiting)
        for split, step, loss in waiting:
            self.take(split, step, loss)


def _roles(splits: Sequence[str]) -> tuple[str | None, str | None]:
    """Return which split is judged and which is the validation beside it."""
    trained = [split for split in splits if not is_validation(split)]
    if not trained:
        return next(iter(splits), None), None
    return TRAIN if TRAIN in trained else trained[0], next(filter(is_validation, splits), None)


def counts(alarm: Alarm) -> bool:
    """Whether an alarm is one of the training: it makes the exit code 1 and runs the user's command.

    What only the log shows (a restart, steps written twice, a gap) is told, and is no reason to stop anything.
    """
    return not alarm.is_artefact


def is_told(alarm: Alarm, alarms: Sequence[Alarm]) -> bool:
    """Whether an alarm out of `alarms` gets a line of its own; notes on the log do until there are many of a kind."""
    if counts(alarm):
        return True
    alike = [other for other in alarms if (other.run, other.kind) == (alarm.run, alarm.kind)]
    return alarm in alike[:TOLD_NOTES]


def alarm_line(alarm: Alarm) -> str:
    """Return one line that a terminal shows as it is, whatever the run is called."""
    if counts(alarm):
        return printable(told(alarm))
    return printable(f"note  {alarm.run}: {alarm.kind.replace('_', ' ')}: {alarm.evidence}")


def printable(text: str) -> str:
    """Return text without characters that steer a terminal."""
    return "".join(character if character.isprintable() else "?" for character in text)
