"""An Optuna pruner that stops a trial whose predicted final loss has little chance to beat the best one.

It has the one method that Optuna calls, and imports nothing of Optuna (an extra).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from scaling_collapse.curves.curve import FINISHED, Curve
from scaling_collapse.errors import ConfigError, CurveError
from scaling_collapse.predict.advise import LEAST_CHANCE, chance_below
from scaling_collapse.predict.methods import LEAST_SQUARES
from scaling_collapse.predict.predict import Settings, known_final_loss, predict_run
from scaling_collapse.predict.template import Template, template_of

#: Trials of one study are of one size and budget: all that matters is that it is the same for all.
SAME_FOR_ALL = {"tpp": 1.0}


class Trial(Protocol):
    """What is used of an Optuna trial: reported losses by step, and its state."""

    number: int
    intermediate_values: Mapping[int, float]
    state: Any


class Study(Protocol):
    """What is used of an Optuna study."""

    def get_trials(self, deepcopy: bool = ...) -> list[Any]:
        """Return all trials."""
        ...


class PredictedBestPruner:
    """Prunes by predicted final loss (section 8), for studies that minimise a loss.

    `total_steps` is the last step that a full trial reports. The template is the one given, else the best finished
    trial: all trials should share their schedule and, as far as possible, tau. Nothing is pruned before `from_progress`
    of training, or before a trial has finished. Raises ConfigError for values that cannot be.
    """

    def __init__(
        self,
        total_steps: int,
        template: Template | None = None,
        from_progress: float = 0.3,
        least_chance: float = LEAST_CHANCE,
        method: str = LEAST_SQUARES,
        split: str = "validation",
    ) -> None:
        if total_steps < 2 or not 0 < from_progress < 1 or not 0 < least_chance < 0.5:
            values = f"total_steps {total_steps}, from_progress {from_progress}, least_chance {least_chance}"
            raise ConfigError("pruner", f"{values}; need at least 2, and fractions below 1 and 0.5.")
        self.total_steps, self.template, self.split = total_steps, template, split
        self.from_progress, self.least_chance, self.settings = from_progress, least_chance, Settings(method=method)

    def prune(self, study: Study, trial: Trial) -> bool:
        """Say whether the trial should stop now. What cannot be predicted goes on."""
        curve = self._curve(trial)
        if curve is None or not self.from_progress <= curve.t_hat[-1] < FINISHED:
            return False
        done = [self._curve(other) for other in study.get_trials(deepcopy=False) if other.state.name == "COMPLETE"]
        finals = [(known_final_loss(other, self.settings), other) for other in done if other is not None]
        ended = [(final, other) for final, other in finals if final is not None]
        if not ended:
            return False
        least, best = min(ended, key=lambda pair: pair[0])
        try:
            template = template_of(best, self.settings.of(self.split)) if self.template is None else self.template
            prediction = predict_run(curve, template, settings=self.settings)
        except CurveError:
            return False
        value = prediction.predicted_final_loss
        return value is not None and chance_below(value, prediction.deviation, least, 0.0)[0] < self.least_chance

    def _curve(self, trial: Trial) -> Curve | None:
        """Return the reported losses as a curve; None with fewer than two, or with one that is no loss."""
        steps = np.array(sorted(step for step in trial.intermediate_values if step > 0), dtype=float)
        loss = np.array([trial.intermediate_values[int(step)] for step in steps], dtype=float)
        if len(steps) < 2 or not (np.isfinite(loss).all() and (loss > 0).all()):
            return None
        t_hat = np.minimum(steps / self.total_steps, 1.0)
        unknown = np.full_like(steps, np.nan)
        return Curve(f"trial {trial.number}", self.split, t_hat, loss, steps, unknown, None, dict(SAME_FOR_ALL))
