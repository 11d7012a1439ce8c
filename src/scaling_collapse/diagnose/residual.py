"""The residual of a run against its reference, and the sequential test of it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from scaling_collapse.curves.curve import Curve
from scaling_collapse.curves.difficulty import adjusted_loss
from scaling_collapse.diagnose.noise import LOOK_BACK, noise_variance
from scaling_collapse.diagnose.reference import ALIGN_FROM, Reference
from scaling_collapse.diagnose.stream import Series, Stream
from scaling_collapse.diagnose.whiten import Whitener, excess


def residual_series(series: Series, reference: Reference) -> tuple[Series, np.ndarray]:
    """Return the bins from ALIGN_FROM on, and log L(t) - log l_ref(t) there, (n,).

    Its level is the log of the divisor that early-align looks for (section 1); the tests look at its changes alone.
    """
    late = series.where(series.start >= ALIGN_FROM)
    return late, late.value - reference.means(late.start, late.stop, late.fraction)


def binned(curve: Curve) -> Series:
    """Return a whole curve as the alarm sees it, its loss adjusted for the difficulty of its batches where known."""
    total = float(curve.steps[-1] / curve.t_hat[-1])
    stream = Stream.of(total)
    losses = adjusted_loss(curve.loss, curve.difficulty)
    for step, loss in zip((curve.t_hat * total).tolist(), losses.tolist(), strict=True):
        stream.add(step, loss)
    stream.bins.close()
    return stream.series()


@dataclass
class ResidualTest:
    """Windowed sums of the whitened residual; what was whitened before is kept, and made anew where bins changed."""

    wander: float
    filter: Whitener = field(init=False)
    errors: list[float] = field(default_factory=list)
    seen: float = 0.0

    def __post_init__(self) -> None:
        self.filter = Whitener(self.wander)

    def __call__(self, values: np.ndarray, count: np.ndarray, fraction: np.ndarray) -> float:
        """Return the statistic at the last bin of a residual (n,), standard normal for one window; -inf without one."""
        known = len(self.errors)
        if known and (known > len(values) or fraction[known - 1] != self.seen):
            self.filter, self.errors = Whitener(self.wander), []
        for i in range(len(self.errors), len(values)):
            near = slice(max(0, i - LOOK_BACK - 1), i + 1)
            noise, freedom = noise_variance(values[near], count[near], fraction[near])
            error = self.filter(values[i], count[i], fraction[i], noise[-1], freedom[-1])
            self.errors.append(float(error))
        if not self.errors:
            return -np.inf
        self.seen = float(fraction[-1])
        return float(excess(np.array(self.errors), count, np.array([len(values) - 1]))[0])
