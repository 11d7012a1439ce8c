"""What an alarm says: kind, onset with its interval, whether the run came back, and the evidence in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Kind = Literal[
    "spike",
    "drift",
    "divergence",
    "slow_convergence",
    "train_validation_split",
    "step_reset",
    "several_runs",
    "duplicated_steps",
    "not_a_number",
]

#: Faults of the log rather than of the training.
ARTEFACTS: tuple[Kind, ...] = ("step_reset", "several_runs", "duplicated_steps", "not_a_number")


@dataclass(frozen=True)
class Alarm:
    """One alarm of one run.

    `onset_step` is where the fault most likely began, `onset_interval` the steps of its 90% interval, `alarm_step`
    where it was told. `onset_fraction` is a fraction of training, None where its length is not known. `recovered`:
    the loss came back to where it would be without the fault.
    """

    run: str
    kind: Kind
    onset_step: int
    onset_fraction: float | None
    recovered: bool
    onset_interval: tuple[int, int]
    alarm_step: int
    evidence: str

    @property
    def is_artefact(self) -> bool:
        """Whether the log is at fault, not the training."""
        return self.kind in ARTEFACTS

    def as_json(self) -> dict[str, Any]:
        """Return what `watch --json` lists: run, kind, onset_step, onset_fraction, recovered."""
        return {name: getattr(self, name) for name in ("run", "kind", "onset_step", "onset_fraction", "recovered")}

    def state(self) -> dict[str, Any]:
        """Return all fields, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Alarm:
        """Return the alarm that `state` described."""
        low, high = state["onset_interval"]
        return cls(**(state | {"onset_interval": (int(low), int(high))}))
