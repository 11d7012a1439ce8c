"""A log and its alarms: losses out of the bytes of a file, into a monitor for each run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from scaling_collapse.diagnose.alarm import Alarm
from scaling_collapse.diagnose.monitor import Monitor
from scaling_collapse.diagnose.reference import Reference
from scaling_collapse.logs.follow import Follower, Update
from scaling_collapse.logs.options import Options


@dataclass
class Watched:
    """A run of the log: its monitor, and the last loss of each split."""

    monitor: Monitor
    last: dict[str, tuple[int, float]] = field(default_factory=dict)


class Watcher:
    """Feeds a growing log to monitors. `total_steps` is the length of its runs, None where it is not known."""

    def __init__(
        self, name: str, options: Options, total_steps: float | None, reference: Reference | None, rate: float
    ) -> None:
        self.follower = Follower(options, name)
        self.total_steps, self.reference, self.rate = total_steps, reference, rate
        self.runs: dict[str, Watched] = {}

    def feed(self, data: bytes) -> Iterator[Alarm]:
        """Take bytes of the log; yield alarms that are new or have changed."""
        yield from self._take(self.follower.feed(data))

    def end(self) -> Iterator[Alarm]:
        """The log is complete: judge what is left."""
        yield from self._take(self.follower.end())
        for watched in self.runs.values():
            if alarm := watched.monitor.finish():
                yield alarm

    def alarms(self) -> list[Alarm]:
        """All alarms so far, as they stand now."""
        return [alarm for watched in self.runs.values() for alarm in watched.monitor.alarms]

    def _take(self, updates: list[Update]) -> Iterator[Alarm]:
        for update in updates:
            watched = self.runs.get(update.run)
            if watched is None:
                monitor = Monitor(update.run, self.total_steps, self.reference, self.rate, validation=True)
                watched = self.runs[update.run] = Watched(monitor)
            watched.last[update.split] = (update.step, update.loss)
            if alarm := self._judge(watched, update):
                yield alarm

    @staticmethod
    def _judge(watched: Watched, update: Update) -> Alarm | None:
        """A log with validation losses alone is watched by them."""
        if update.split == "train" or "train" not in watched.last:
            return watched.monitor.update(update.step, update.loss)
        return watched.monitor.update_validation(update.step, update.loss)
