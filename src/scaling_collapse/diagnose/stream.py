"""One curve of a run as it comes in: clipped, binned, and with recovered faults left out."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from scaling_collapse.diagnose.bins import Bins
from scaling_collapse.diagnose.clip import RunningClip


@dataclass(frozen=True)
class Series:
    """Bins that count, as arrays (n,): points, mean step, last step, fraction of training, log losses.

    `start` and `stop` are the fractions between which each bin lies; `value` is clipped, `raw` is not. `floor` is the
    least noise variance of a point: losses are written with so many digits, and all points of a bin may be rounded
    alike.
    """

    count: np.ndarray
    step: np.ndarray
    last_step: np.ndarray
    fraction: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    value: np.ndarray
    raw: np.ndarray
    floor: np.ndarray

    def __len__(self) -> int:
        return len(self.count)

    def where(self, keep: np.ndarray) -> Series:
        """Return the bins of a mask."""
        return Series(**{name: values[keep] for name, values in vars(self).items()})


@dataclass
class Stream:
    """State of one curve; `healed` holds the steps (from, to) of faults that are over.

    `digit` is the smallest difference of two neighbouring losses, which for a log with few digits is the last digit.
    """

    bins: Bins
    clip: RunningClip = field(default_factory=RunningClip)
    healed: list[tuple[float, float]] = field(default_factory=list)
    digit: float = math.inf
    last_loss: float = math.nan

    @classmethod
    def of(cls, total_steps: float | None) -> Stream:
        """Return an empty stream of a run of `total_steps`, None where that is not known."""
        return cls(Bins(total_steps))

    def add(self, step: float, loss: float) -> bool:
        """Add a positive finite loss. Return whether a bin was closed."""
        raw = math.log(loss)
        if 0 < abs(loss - self.last_loss) < self.digit:
            self.digit = abs(loss - self.last_loss)
        self.last_loss = loss
        return self.bins.add(step, self.clip(raw), raw) > 0

    def rewind(self, step: float) -> None:
        """Forget what came from `step` on, so that no point is pulled towards a level that no longer holds."""
        self.bins.rewind(step)
        self.clip, self.last_loss = RunningClip(), math.nan
        self.healed = [(start, min(stop, step)) for start, stop in self.healed if start < step]

    def series(self) -> Series:
        """Return the closed bins outside healed faults."""
        bins = self.bins
        last, total = bins.array("last_step"), bins.total_steps
        stop = last / max(total or (last[-1] if len(last) else 1.0), 1.0)
        start = np.concatenate([[0.0], stop[:-1]])[: len(stop)]
        count, step, value, raw = (bins.array(name) for name in ("count", "step", "value", "raw"))
        rounding = (self.digit if math.isfinite(self.digit) else 0.0) ** 2 / 12
        floor = count * rounding * np.exp(-2 * value)
        all_bins = Series(count, step, last, bins.fraction, start, stop, value, raw, floor)
        if not self.healed:
            return all_bins
        sick = [(step >= low) & (step <= high) for low, high in self.healed]
        return all_bins.where(~np.any(sick, axis=0))

    def state(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return asdict(self) | {
            name: value if math.isfinite(value) else None
            for name, value in (("digit", self.digit), ("last_loss", self.last_loss))
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Stream:
        """Return the stream that `state` described."""
        healed = [(float(low), float(high)) for low, high in state["healed"]]
        digit = math.inf if state["digit"] is None else float(state["digit"])
        last = math.nan if state["last_loss"] is None else float(state["last_loss"])
        return cls(Bins(**state["bins"]), RunningClip(**state["clip"]), healed, digit, last)
