"""The pruner inside a real Optuna study (where Optuna is installed), and its decisions without one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from scaling_collapse.errors import ConfigError
from scaling_collapse.predict.optuna_pruner import PredictedBestPruner
from tests.unit.curves.support import shape
from tests.unit.predict.support import grid

STEPS = 60
CURVE = shape(grid(STEPS))


def trial(number: int, final: float, upto: int = STEPS, state: str = "RUNNING") -> Any:
    values = {step: float(final * CURVE[step - 1]) for step in range(1, upto + 1)}
    return SimpleNamespace(number=number, intermediate_values=values, state=SimpleNamespace(name=state))


def study(*trials: Any) -> Any:
    return SimpleNamespace(get_trials=lambda deepcopy=True: list(trials))


def test_a_loser_is_pruned_a_winner_and_a_tie_are_not() -> None:
    pruner, done = PredictedBestPruner(STEPS), study(trial(0, 3.0, state="COMPLETE"))
    assert pruner.prune(done, trial(1, 3.5, 24))
    assert not pruner.prune(done, trial(2, 2.8, 24))
    assert not pruner.prune(done, trial(3, 3.005, 24))


def test_it_waits_for_progress_and_for_a_finished_trial() -> None:
    pruner, bad = PredictedBestPruner(STEPS, from_progress=0.5), trial(1, 9.0, 24)
    assert not pruner.prune(study(trial(0, 3.0, state="COMPLETE")), bad)
    assert not PredictedBestPruner(STEPS).prune(study(), bad)
    assert not PredictedBestPruner(STEPS).prune(study(trial(0, 3.0, 40, "COMPLETE")), bad)


def test_what_is_no_loss_curve_goes_on() -> None:
    broken = trial(1, 3.5, 24)
    broken.intermediate_values[20] = float("nan")
    assert not PredictedBestPruner(STEPS).prune(study(trial(0, 3.0, state="COMPLETE")), broken)


@pytest.mark.parametrize("arguments", [{"total_steps": 1}, {"from_progress": 1.5}, {"least_chance": 0.9}])
def test_impossible_settings_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="pruner"):
        PredictedBestPruner(**({"total_steps": STEPS} | arguments))


def test_in_a_real_study_the_best_trial_survives_and_steps_are_saved() -> None:
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    random = np.random.default_rng(0)
    taken: list[int] = []

    def objective(one: Any) -> float:
        final = 3.0 + (one.suggest_float("x", -1, 1) - 0.3) ** 2
        loss = final * CURVE * (1 + 0.002 * random.standard_normal(STEPS))
        for step in range(1, STEPS + 1):
            one.report(float(loss[step - 1]), step)
            if one.should_prune():
                taken.append(step)
                raise optuna.TrialPruned
        taken.append(STEPS)
        return float(loss[-1])

    optimised = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1), pruner=PredictedBestPruner(STEPS))
    optimised.optimize(objective, n_trials=30)
    every = [3.0 + (one.params["x"] - 0.3) ** 2 for one in optimised.trials]
    assert optimised.best_value < min(every) * 1.01
    assert sum(taken) < 0.8 * 30 * STEPS
    assert min(taken) >= 0.3 * STEPS
