"""The alarm during training: losses go in as they come, alarms come out. Its state is a few hundred numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from scaling_collapse.curves.measures import PERCENT
from scaling_collapse.diagnose.alarm import Alarm, Kind
from scaling_collapse.diagnose.evidence import describe
from scaling_collapse.diagnose.fault import Fault, assess, is_above, kind_of
from scaling_collapse.diagnose.judge import RATE, Finding, Judge
from scaling_collapse.diagnose.log import LOST_POINTS, LogCheck
from scaling_collapse.diagnose.reference import Reference
from scaling_collapse.diagnose.residual import residual_series
from scaling_collapse.diagnose.split import GAP_WANDER, gap
from scaling_collapse.diagnose.stream import Series, Stream
from scaling_collapse.diagnose.whiten import WANDER
from scaling_collapse.errors import CurveError

#: A fault of the log is told at most so often: one that shuffles its lines has them without end.
MOST_TOLD = 100


@dataclass
class OpenFault:
    """A fault that is not over: which alarm tells it, by which finding, at which step, and whether the loss rose."""

    alarm: int
    finding: Finding
    told_step: float
    rose: bool


class Monitor:
    """Watches one run. `alarms` holds all alarms so far; a fault's alarm is kept up to date until the fault is over.

    `total_steps` is the length of the run, which a reference needs; without it bins double in width as the run goes
    on. `rate` is the probability of a false alarm in a healthy run; `validation` says that validation losses will
    come. Raises CurveError for a reference without a length, ConfigError for a rate that cannot be held.
    """

    def __init__(
        self,
        run: str,
        total_steps: float | None = None,
        reference: Reference | None = None,
        rate: float = RATE,
        validation: bool = False,
    ) -> None:
        if reference is not None and total_steps is None:
            raise CurveError(run, "its length is not known, as a reference needs.", "give its steps, or no reference")
        if total_steps is not None and not total_steps > 0:
            raise CurveError(run, f"its length is {total_steps} steps; must be positive.")
        self.run, self.total_steps = run, total_steps
        self.judge = Judge(rate, reference, validation)
        self.alarms: list[Alarm] = []
        self._clear()
        self.log, self.validation_log = LogCheck(), LogCheck()

    def _clear(self) -> None:
        self.train, self.validation = Stream.of(self.total_steps), Stream.of(self.total_steps)
        self.fault: OpenFault | None = None
        self.has_split = False

    def update(self, step: float, loss: float) -> Alarm | None:
        """Take the training loss of a step. Return an alarm that is new or has changed, else None."""
        step, loss = float(step), float(loss)
        was_lost = self.log.not_finite >= LOST_POINTS
        verdict, kind, evidence = self.log(step, loss)
        alarm = self._artefact(kind, step, evidence) if kind else None
        if was_lost and not self.log.not_finite:
            alarm = self._found_again() or alarm
        if verdict == "restart":
            self._clear()
        elif verdict == "rewind":
            self._rewind(step)
        if verdict == "skip":
            return alarm
        return (self._judge() if self.train.add(step, loss) else None) or alarm

    def update_validation(self, step: float, loss: float) -> Alarm | None:
        """Take a validation loss, after the training losses up to its step. Return a new alarm, else None."""
        if not self.judge.validation:
            raise CurveError(self.run, "validation losses were not announced.", "set validation=True")
        step, loss = float(step), float(loss)
        verdict, _, _ = self.validation_log(step, loss)
        if verdict == "skip":
            return None
        if verdict != "use":
            self.validation.rewind(step)
        return self._judge_validation() if self.validation.add(step, loss) else None

    def finish(self) -> Alarm | None:
        """Judge what the last bins hold, at the end of the log. Return an alarm that is new or has changed."""
        alarm = self._judge() if self.train.bins.close() else None
        return (self._judge_validation() if self.validation.bins.close() else None) or alarm

    def state(self) -> dict[str, Any]:
        """Return all that the monitor remembers, ready for JSON; the reference is named, not held."""
        reference = self.judge.reference
        return {
            "run": self.run,
            "total_steps": self.total_steps,
            "rate": self.judge.rate,
            "reference": None if reference is None else reference.source,
            "with_validation": self.judge.validation,
            "train": self.train.state(),
            "validation": self.validation.state(),
            "log": asdict(self.log),
            "validation_log": asdict(self.validation_log),
            "fault": None if self.fault is None else asdict(self.fault),
            "has_split": self.has_split,
            "alarms": [alarm.state() for alarm in self.alarms],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], reference: Reference | None = None) -> Monitor:
        """Return the monitor that `state` described, which needs the same reference again.

        Raises CurveError for another reference, or none where there was one.
        """
        given = None if reference is None else reference.source
        if given != state["reference"]:
            raise CurveError(
                state["run"], f"its monitor had reference {state['reference']}, now it is {given}.", "give the same one"
            )
        monitor = cls(state["run"], state["total_steps"], reference, state["rate"], state["with_validation"])
        monitor.train, monitor.validation = Stream.from_state(state["train"]), Stream.from_state(state["validation"])
        monitor.log, monitor.validation_log = LogCheck(**state["log"]), LogCheck(**state["validation_log"])
        if state["fault"] is not None:
            monitor.fault = OpenFault(**(state["fault"] | {"finding": Finding(**state["fault"]["finding"])}))
        monitor.has_split = state["has_split"]
        monitor.alarms = [Alarm.from_state(alarm) for alarm in state["alarms"]]
        return monitor

    def _judge(self) -> Alarm | None:
        series = self.train.series()
        if not len(series):
            return None
        findings = self.judge.train(self.train, series)
        accused = [finding for finding in findings if finding.alarms]
        fault = self.fault
        if fault is None:
            if not accused:
                return self._tell_spike(series)
            fault = OpenFault(len(self.alarms), accused[-1], float(series.last_step[-1]), False)
        fault.rose |= findings[0].alarms
        self.fault = fault
        return self._tell(fault, series)

    def _tell(self, fault: OpenFault, series: Series) -> Alarm | None:
        """Bring the alarm of a fault up to date. Return it if it is new, changed its kind, or is over."""
        part, values, wander = series, series.value, WANDER
        if fault.finding.test == "residual" and self.judge.reference is not None:
            part, values = residual_series(series, self.judge.reference)
            wander = self.judge.reference.wander
        if len(part) < 2:
            return None
        suspect = int(np.searchsorted(part.last_step, fault.told_step))
        falling = fault.finding.test != "residual"
        found = assess(values, part.count, part.fraction, min(suspect, len(part) - 1), wander, falling)
        rose = fault.rose and is_above(series.value, series.count, series.step < part.step[found.onset.index])
        alarm = self._alarm(kind_of(found, rose), fault, part, found)
        is_new = fault.alarm == len(self.alarms)
        changed = is_new or (alarm.kind, alarm.recovered) != (
            self.alarms[fault.alarm].kind,
            self.alarms[fault.alarm].recovered,
        )
        self.alarms[fault.alarm : fault.alarm + 1] = [alarm]
        if found.recovered:
            self.train.healed.append((float(part.step[found.onset.index]), float(part.step[-1])))
            self.fault = None
        return alarm if changed else None

    def _tell_spike(self, series: Series) -> Alarm | None:
        """Tell the last bin that stood out by itself, if there is one that was not told."""
        found = self.judge.spikes(self.train, series)
        if not len(found):
            return None
        index = int(found[-1])
        step = self._first_step(series, index)
        self.train.healed.append((float(series.step[index]), float(series.step[index])))
        height = float(np.expm1(series.raw[index] - (series.raw[index - 1] + series.raw[index + 1]) / 2))
        evidence = f"the loss lay {PERCENT * height:.2g}% above its neighbours, which it met again at once"
        interval = (round(float(series.last_step[index - 1])), step)
        told = round(float(series.last_step[-1]))
        self.alarms.append(Alarm(self.run, "spike", step, self._fraction(step), True, interval, told, evidence))
        return self.alarms[-1]

    def _fraction(self, step: float) -> float | None:
        return step / self.total_steps if self.total_steps else None

    @staticmethod
    def _first_step(series: Series, index: int) -> int:
        return round(2 * float(series.step[index]) - float(series.last_step[index]))

    def _judge_validation(self) -> Alarm | None:
        validation, train = self.validation.series(), self.train.series()
        if self.has_split or self.fault is not None or not len(validation) or not len(train):
            return None
        accused = [finding for finding in self.judge.validations(self.validation, validation, train) if finding.alarms]
        if not accused:
            return None
        self.has_split = True
        part, values, wander = validation, validation.value, WANDER
        if accused[0].test == "gap":
            (part, values, _), wander = gap(train, validation), GAP_WANDER
        found = assess(values, part.count, part.fraction, len(part) - 1, wander, falling=True)
        fault = OpenFault(len(self.alarms), accused[0], float(part.last_step[-1]), False)
        self.alarms.append(self._alarm("train_validation_split", fault, part, replace(found, recovered=False)))
        return self.alarms[-1]

    def _alarm(self, kind: Kind, fault: OpenFault, series: Series, found: Fault) -> Alarm:
        onset = found.onset
        step = self._first_step(series, onset.index)
        source = self.judge.reference.source if self.judge.reference is not None else ""
        return Alarm(
            run=self.run,
            kind=kind,
            onset_step=step,
            onset_fraction=self._fraction(step),
            recovered=found.recovered,
            onset_interval=(round(float(series.last_step[onset.low - 1])), self._first_step(series, onset.high)),
            alarm_step=round(fault.told_step),
            evidence=describe(fault.finding, found, source),
        )

    def _artefact(self, kind: Kind, step: float, evidence: str) -> Alarm | None:
        if sum(alarm.kind == kind for alarm in self.alarms) >= MOST_TOLD:
            return None
        step = step if np.isfinite(step) else self.log.last_step
        at = round(self.log.not_finite_from if kind == "divergence" else step)
        self.alarms.append(Alarm(self.run, kind, at, self._fraction(at), False, (at, at), round(step), evidence))
        return self.alarms[-1]

    def _found_again(self) -> Alarm | None:
        """A loss that was no number any more is one again: that divergence is over."""
        at = round(self.log.not_finite_from)
        for index, alarm in reversed(list(enumerate(self.alarms))):
            if alarm.kind == "divergence" and alarm.onset_step == at:
                self.alarms[index] = replace(alarm, recovered=True)
                return self.alarms[index]
        return None

    def _rewind(self, step: float) -> None:
        """Forget what came from `step` on; faults that began later are over."""
        self.train.rewind(step)
        self.validation.rewind(step)
        for index, alarm in enumerate(self.alarms):
            if alarm.onset_step < step or alarm.is_artefact:
                continue
            self.alarms[index] = replace(alarm, recovered=True)
            if self.fault is not None and self.fault.alarm == index:
                self.fault = None
            if alarm.kind == "train_validation_split":
                self.has_split = False
