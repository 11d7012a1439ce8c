"""A stream of losses condensed into at most some hundred bins: what the tests see, and all that is remembered."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

#: Bins of a run whose length is known: 0.5% of training each, as the grid of the collapse measures.
BINS = 200

#: Where the length is not known, bins double in width whenever there are this many.
MOST_BINS = 256


@dataclass
class Bins:
    """Closed bins as parallel lists, and the open one. `total_steps` None: the length of the run is not known.

    `count` points lie in a bin, `step` is its mean step, `last_step` its last; `value` and `raw` are the means of the
    clipped and of the unclipped log losses.
    """

    total_steps: float | None = None
    width: int = 1
    count: list[float] = field(default_factory=list)
    step: list[float] = field(default_factory=list)
    last_step: list[float] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    raw: list[float] = field(default_factory=list)
    open: list[float] = field(default_factory=lambda: [0.0] * 4)
    open_step: float = 0.0

    def __len__(self) -> int:
        return len(self.count)

    def add(self, step: float, value: float, raw: float) -> int:
        """Add a point; steps increase. Return how many bins it closed: 0, 1 or 2."""
        closed = 0
        if self.open[0] and self._cell(step) > self._cell(self.open_step):
            closed += self.close()
        previous = self.open_step
        for place, amount in enumerate((1.0, step, value, raw)):
            self.open[place] += amount
        self.open_step = step
        next_step = 2 * step - previous
        if self._is_full(step, next_step):
            closed += self.close()
        return closed

    def close(self) -> int:
        """Close the open bin, if it holds anything. Return the number of bins closed."""
        count = self.open[0]
        if not count:
            return 0
        rows = (self.count, self.step, self.value, self.raw)
        for row, total in zip(rows, (count * count, *self.open[1:]), strict=True):
            row.append(total / count)
        self.last_step.append(self.open_step)
        self.open = [0.0] * 4
        if self.total_steps is None and len(self) >= MOST_BINS:
            self._merge()
        return 1

    def rewind(self, step: float) -> None:
        """Forget everything from `step` on: the run was restarted there."""
        keep = sum(last < step for last in self.last_step)
        for row in (self.count, self.step, self.last_step, self.value, self.raw):
            del row[keep:]
        self.open = [0.0] * 4
        self.open_step = self.last_step[-1] if self.last_step else 0.0

    def array(self, name: str) -> np.ndarray:
        """Return one of the lists as an array, shape (bins,)."""
        return np.array(getattr(self, name), dtype=float)

    @property
    def fraction(self) -> np.ndarray:
        """Fraction of training at each bin; of the training so far where its length is not known."""
        total = self.total_steps or (self.last_step[-1] if self.last_step else 1.0)
        return self.array("step") / max(total, 1.0)

    def state(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return asdict(self)

    def _cell(self, step: float) -> int:
        if self.total_steps is None:
            return 0
        done = step / self.total_steps
        if done > 1:  # longer than was said: few bins however much longer
            done = 1 + math.log2(done)
        return math.ceil(BINS * done - 1e-9)

    def _is_full(self, step: float, next_step: float) -> bool:
        if self.total_steps is None:
            return self.open[0] >= self.width
        return self._cell(next_step) > self._cell(step)

    def _merge(self) -> None:
        """Join neighbouring bins in pairs."""
        count = self.array("count").reshape(-1, 2)
        for row in (self.step, self.value, self.raw):
            row[:] = ((np.reshape(row, (-1, 2)) * count).sum(axis=1) / count.sum(axis=1)).tolist()
        self.last_step[:] = self.last_step[1::2]
        self.count[:] = count.sum(axis=1).tolist()
        self.width *= 2
