"""A growing log under watch: bytes in, alarms out, with restarts and other runs in the same log told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from scaling_collapse.cli.watch_run import WatchedRun
from scaling_collapse.cli.watch_setting import Setting
from scaling_collapse.diagnose.alarm import Alarm
from scaling_collapse.logs.follow import Follower, Update
from scaling_collapse.logs.options import Options
from scaling_collapse.logs.tracker import Event


@dataclass
class _Held:
    """A stretch of the log of which it is not clear yet whether it goes on with its run or begins another one."""

    run: str
    before: float
    state: dict[str, Any]
    updates: list[Update] = field(default_factory=list)


class LogWatch:
    """Runs of a growing log by name. `losses` counts all losses that were read, `said` gathers words for the user."""

    def __init__(self, name: str, options: Options, setting: Setting) -> None:
        self.follower = Follower(options, name)
        self.runs: dict[str, WatchedRun] = {}
        self.losses = 0
        self.said: list[str] = []
        self._setting = setting
        self._last = ("", 0)
        self._held: _Held | None = None
        self._bulletin = Bulletin()
        self._beyond: set[str] = set()

    def feed(self, data: bytes) -> None:
        """Take bytes of the log. Raises CurveError for a run that the references cannot be held against."""
        self._take(self.follower.feed(data))

    def new_file(self) -> None:
        """What comes is of another file of the same log."""
        self.follower.new_file()

    def end(self) -> None:
        """Judge what is left. A line without its end is given up: the last digits of its loss may be missing."""
        for run in self.runs.values():
            run.end()

    @property
    def alarms(self) -> list[Alarm]:
        """All alarms so far, as they stand now."""
        return [alarm for run in self.runs.values() for alarm in run.alarms]

    def news(self) -> list[News]:
        """Return the alarms that are new, or have changed, since the last call."""
        return self._bulletin.news({name: run.alarms for name, run in self.runs.items()})

    def _take(self, updates: Sequence[Update]) -> None:
        self.losses += len(updates)
        for update in updates:
            self._sort_in(update)
            self._last = (update.run, update.step)

    def _sort_in(self, update: Update) -> None:
        """Give a loss to its run. Where it shows that the stretch was another run's, take the stretch back.

        On a stretch that goes back to earlier steps the state before it is kept until it writes one of them again,
        which tells what it is, or is past them all.
        """
        if update.event is Event.NEW_RUN:
            self._begin(update)
            return
        held = self._held if self._held is not None and self._held.run == update.run else None
        run = self._run(update, None)
        if update.event is Event.ON and update.stretch == 1 and run.last:
            last_step = max(step for step, _ in run.last.values())
            held = self._held = _Held(update.run, last_step, run.snapshot())
        elif held is not None and (update.event is Event.RESTART or update.step > held.before):
            held = self._held = None
        if held is not None:
            held.updates.append(update)
        run.take(update.split, update.step, update.loss)
        if update.run not in self._beyond and run.beyond:
            self._beyond.add(update.run)
            self.said.append(f"{update.run}: {run.beyond}")

    def _begin(self, update: Update) -> None:
        """Begin another run with the stretch of the log whose last loss is `update`."""
        previous, moved = self._last, [update]
        held, self._held = self._held, None
        if held is not None and update.stretch > 1:
            self.runs[held.run].restore(held.state)
            previous, moved = (held.run, round(held.before)), [*held.updates, update]
        run = self._run(update, previous)
        for one in moved:
            run.take(one.split, one.step, one.loss)

    def _run(self, update: Update, previous: tuple[str, int] | None) -> WatchedRun:
        name = update.run
        if name not in self.runs:
            facts = self._facts(name)
            length = self._setting.length(facts, update.step, update.tokens)
            before = [] if previous is None else [another_run(name, *previous, update.start)]
            self.runs[name] = WatchedRun(
                lambda validation: self._setting.watch(name, validation, length, facts), before=before
            )
            words = (*self.runs[name].against, self._setting.why_alone(name, facts))
            self.said += [f"{name}: {line}" for line in words if line]
        return self.runs[name]

    def _facts(self, run: str) -> dict[str, Any]:
        parser = self.follower.parser
        return {} if parser is None else parser.facts.get("", {}) | parser.facts.get(run, {})


def another_run(name: str, previous: str, last_step: int, step: int) -> Alarm:
    """Return the note that a log goes on with another run, `name`, after `last_step` of run `previous`."""
    evidence = f"after step {last_step} of {previous} another run begins at step {step}"
    return Alarm(name, "several_runs", step, None, False, (step, step), step, evidence)


@dataclass(frozen=True)
class News:
    """An alarm that is `new`, or else has changed its kind or come to its end."""

    alarm: Alarm
    new: bool


class Bulletin:
    """Remembers what was told of each alarm. A run's alarms keep their places; the last ones may go again."""

    def __init__(self) -> None:
        self._told: dict[str, list[tuple[str, bool]]] = {}

    def news(self, alarms: dict[str, list[Alarm]]) -> list[News]:
        """Return what is not told yet, given all alarms of each run."""
        found = []
        for run, own in alarms.items():
            told = self._told.get(run, [])
            for place, alarm in enumerate(own):
                new = place >= len(told)
                if new or told[place] != (alarm.kind, alarm.recovered):
                    found.append(News(alarm, new))
            self._told[run] = [(alarm.kind, alarm.recovered) for alarm in own]
        return found
