"""A predicted final loss with its interval, method, reason and warnings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

#: Standard deviations from the value to the ends of a 90% interval of the normal distribution.
NINETY_PERCENT = 1.645

#: Methods of predictions that are none.
FINISHED, REFUSED = "finished", "refused"


@dataclass(frozen=True)
class Prediction:
    """What is expected of one run. Losses in nats; None where nothing can be said, and `warnings` say why.

    `progress` is the fraction of training that was known; `low` to `high` is the 90% interval.
    """

    run: str
    progress: float
    predicted_final_loss: float | None
    low: float | None
    high: float | None
    method: str
    reason: str = ""
    warnings: tuple[str, ...] = ()
    true_final_loss: float | None = None

    @property
    def deviation(self) -> float:
        """Relative standard deviation behind the interval; NaN without a value."""
        if self.predicted_final_loss is None or self.low is None or self.high is None:
            return float("nan")
        return float(np.log(self.high / self.low)) / (2 * NINETY_PERCENT)

    @property
    def half_width_percent(self) -> float:
        """Half of the interval in percent of the value; NaN without one."""
        return 100 * NINETY_PERCENT * self.deviation

    @property
    def error_percent(self) -> float:
        """Predicted over true final loss, less one, in percent; NaN where either is not known."""
        if self.predicted_final_loss is None or self.true_final_loss is None:
            return float("nan")
        return 100 * (self.predicted_final_loss / self.true_final_loss - 1)

    def as_json(self) -> dict[str, Any]:
        """Return what `predict --json` lists; `true_final_loss` is there in back-tests only."""
        found: dict[str, Any] = {
            "run": self.run,
            "progress": self.progress,
            "predicted_final_loss": self.predicted_final_loss,
            "low": self.low,
            "high": self.high,
            "method": self.method,
            "warnings": list(self.warnings),
        }
        return found if self.true_final_loss is None else found | {"true_final_loss": self.true_final_loss}

    def with_warning(self, *texts: str) -> Prediction:
        """Return the prediction with more warnings."""
        return replace(self, warnings=(*self.warnings, *texts))


def interval(value: float, deviation: float) -> tuple[float, float]:
    """Return the ends of the 90% interval around `value` for a relative standard deviation, symmetric in the log."""
    factor = float(np.exp(NINETY_PERCENT * deviation))
    return value / factor, value * factor


def refused(run: str, progress: float, why: str, true_final_loss: float | None = None) -> Prediction:
    """Return the prediction that says only why there is none."""
    return Prediction(run, progress, None, None, None, REFUSED, why, (why,), true_final_loss)
