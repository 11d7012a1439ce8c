"""Thresholds of the two tests: what the largest statistic of a healthy run exceeds at the stated rate, no more.

Quantiles of 40,000 simulated healthy runs for each number of bins (benchmarks/alarm_rate.py thresholds, seed 1): a
level, the healthy walk, and 10 points a bin with a noise of 1% (residual, as `cpu` scale has) or 3% (rise: its worst
case, for then the walk does not count). Between the entries they are interpolated.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import numpy as np

from scaling_collapse.errors import ConfigError

Test = Literal["residual", "rise"]

#: Bins of a run, and rates of false alarms per run, of the tables below.
BINS_OF_RUN = (8, 16, 32, 64, 128, 256)
RATES = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)

TABLES: dict[Test, tuple[tuple[float, ...], ...]] = {
    "residual": (
        (1.78, 2.00, 2.25, 2.41, 2.56, 2.70, 2.81),
        (2.50, 2.76, 3.08, 3.29, 3.49, 3.75, 3.91),
        (2.91, 3.16, 3.47, 3.67, 3.87, 4.09, 4.29),
        (3.18, 3.42, 3.70, 3.90, 4.08, 4.30, 4.48),
        (3.41, 3.63, 3.88, 4.08, 4.26, 4.48, 4.65),
        (3.62, 3.82, 4.06, 4.22, 4.38, 4.60, 4.75),
    ),
    "rise": (
        (2.15, 2.30, 2.46, 2.56, 2.66, 2.76, 2.81),
        (2.29, 2.44, 2.62, 2.73, 2.83, 2.97, 3.04),
        (2.34, 2.49, 2.67, 2.79, 2.90, 3.04, 3.16),
        (2.58, 2.70, 2.86, 2.97, 3.06, 3.18, 3.25),
        (2.96, 3.10, 3.26, 3.37, 3.47, 3.59, 3.70),
        (3.26, 3.39, 3.55, 3.65, 3.74, 3.87, 3.95),
    ),
}

#: Rates that the tables reach, the lower end with extrapolation by a factor of ten.
LOWEST_RATE, HIGHEST_RATE = 1e-4, 0.1


@lru_cache(maxsize=4096)
def threshold(test: Test, bins: float, rate: float) -> float:
    """Return the threshold that a healthy run of `bins` bins exceeds once with probability `rate`.

    Its square is linear in log(rate), as normal tails are, and it is linear in log(bins). Outside the table's numbers
    of bins the nearest one holds below, and the last slope goes on above. Raises ConfigError for a rate outside
    LOWEST_RATE to HIGHEST_RATE.
    """
    if not LOWEST_RATE <= rate <= HIGHEST_RATE:
        raise ConfigError(
            "alarm rate", f"{rate:g} false alarms a run; must be {LOWEST_RATE:g} to {HIGHEST_RATE:g}.", "use 0.01"
        )
    logs = -np.log(RATES)
    squares = np.square(TABLES[test])
    wanted = -np.log(rate)
    place = int(np.clip(np.searchsorted(logs, wanted) - 1, 0, len(logs) - 2))
    share = (wanted - logs[place]) / (logs[place + 1] - logs[place])
    column = np.sqrt((1 - share) * squares[:, place] + share * squares[:, place + 1])
    size, sizes = np.log(max(bins, BINS_OF_RUN[0])), np.log(BINS_OF_RUN)
    beyond = (column[-1] - column[-2]) / (sizes[-1] - sizes[-2]) * max(size - sizes[-1], 0.0)
    return float(np.interp(size, sizes, column) + beyond)
