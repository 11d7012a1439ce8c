"""The tests of a run, each with its share of the rate of false alarms and the threshold that follows from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from scaling_collapse.diagnose.bins import BINS, MOST_BINS, Bins
from scaling_collapse.diagnose.reference import ALIGN_FROM, Reference
from scaling_collapse.diagnose.residual import ResidualTest, residual_series
from scaling_collapse.diagnose.rise import rise
from scaling_collapse.diagnose.spike import spikes
from scaling_collapse.diagnose.split import gap_rise
from scaling_collapse.diagnose.stream import Series, Stream
from scaling_collapse.diagnose.thresholds import HIGHEST_RATE, LOWEST_RATE, threshold
from scaling_collapse.diagnose.whiten import WANDER
from scaling_collapse.errors import ConfigError

#: False alarms per healthy run.
RATE = 0.01

#: Below this the shares of single tests fall under the lowest rate of the thresholds, and their sum is not held.
LEAST_RATE = 0.001

#: With a reference the residual gets nearly all of the rate. The rise test keeps a little on top: a healthy loss falls,
#: and so hardly ever seems to rise (0 of 1,000 simulated runs at the whole rate of 1%, 3 at 5%).
RESIDUAL_SHARE, RISE_SHARE = 0.95, 0.1

#: What single bins get on top: their threshold supposes heavy tails, so they hardly ever use it.
SPIKE_SHARE = 0.05

#: With validation losses their two tests get this much of the rate, half each.
VALIDATION_SHARE = 0.2

TestName = Literal["rise", "residual", "spike", "validation_rise", "gap"]


@dataclass(frozen=True)
class Finding:
    """Statistic of a test at the last bin, and its threshold."""

    test: TestName
    statistic: float
    threshold: float

    @property
    def alarms(self) -> bool:
        """Whether the run is called faulty."""
        return self.statistic > self.threshold


@dataclass
class Judge:
    """The tests that take part, for a run with or without reference and validation losses.

    `rate` is that of a run, all tests together. Raises ConfigError for one that cannot be held.
    """

    rate: float = RATE
    reference: Reference | None = None
    validation: bool = False
    residual: ResidualTest | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.reference is not None:
            self.residual = ResidualTest(self.reference.wander)
        check_rate(self.rate)

    def share(self, test: TestName) -> float:
        """Return the share of the rate that a test gets; 0 where it does not take part."""
        validation = VALIDATION_SHARE if self.validation else 0.0
        held = self.reference is not None
        return {
            "rise": (1 - validation) * (RISE_SHARE if held else 1.0),
            "residual": (1 - validation) * (RESIDUAL_SHARE if held else 0.0),
            "spike": (1 - validation) * SPIKE_SHARE,
            "validation_rise": validation / 2,
            "gap": validation / 2,
        }[test]

    def train(self, stream: Stream, series: Series) -> list[Finding]:
        """Return the findings about the training curve at its last bin."""
        findings = [Finding("rise", _rise_at_end(series), self._threshold("rise", stream.bins, series, 0.0))]
        if self.reference is not None and self.residual is not None:
            late, values = residual_series(series, self.reference)
            if len(late):
                statistic = self.residual(values, late.count, late.fraction)
                findings.append(
                    Finding("residual", statistic, self._threshold("residual", stream.bins, late, ALIGN_FROM))
                )
        return findings

    def spikes(self, stream: Stream, series: Series) -> np.ndarray:
        """Return the indices of bins that are spikes by themselves, with and without wild points."""
        rate, bins = self._rate_and_bins("spike", stream.bins, series, 0.0)
        found = spikes(series.value, series.count, series.fraction, series.floor, rate, bins)
        if not len(found):
            return found
        return np.intersect1d(found, spikes(series.raw, series.count, series.fraction, series.floor, rate, bins))

    def validations(self, stream: Stream, validation: Series, train: Series) -> list[Finding]:
        """Return the findings about the validation curve at its last bin."""
        rises = _rise_at_end(validation)
        parts = gap_rise(train, validation)
        return [
            Finding("validation_rise", rises, self._threshold("validation_rise", stream.bins, validation, 0.0)),
            Finding("gap", parts, self._threshold("gap", stream.bins, validation, 0.0)),
        ]

    def _threshold(self, test: TestName, bins: Bins, series: Series, start: float) -> float:
        rate, expected = self._rate_and_bins(test, bins, series, start)
        return threshold("residual" if test == "residual" else "rise", expected, rate)

    def _rate_and_bins(self, test: TestName, bins: Bins, series: Series, start: float) -> tuple[float, int]:
        """Return the rate that a test may use that looks at training from `start` on, and the bins it will see.

        The number of bins at the end of training follows from those so far. Where the length is not known, each
        doubling of the bins' width gets half of the rate that is left.
        """
        rate = self.rate * self.share(test)
        if bins.total_steps is None:
            return max(rate / (2 * bins.width), LOWEST_RATE), MOST_BINS
        done = max(float(series.stop[-1]) - start, 1 / BINS)
        return max(rate, LOWEST_RATE), max(round(len(series) / done * (1 - start)), len(series))


def check_rate(rate: float) -> None:
    """Raise ConfigError for a rate of false alarms of a run that the tests cannot hold."""
    if not LEAST_RATE <= rate <= HIGHEST_RATE:
        problem = f"{rate:g} false alarms a run; must be {LEAST_RATE:g} to {HIGHEST_RATE:g}."
        raise ConfigError("alarm rate", problem, f"use {RATE:g}")


def _rise_at_end(series: Series) -> float:
    last = np.array([len(series) - 1])
    return float(rise(series.value, series.count, series.fraction, last, WANDER, series.floor)[0])
