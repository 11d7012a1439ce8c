"""Speed and objective of the surrogate's fit against the paper's alternating grids, on drawn curves of known constants.

    OMP_NUM_THREADS=1 python -m benchmarks.surrogate_fit [--rounds 5] [--fine]

112 curves of 1,000 points: the fit, alternating 41 x 41 grids until nothing changes, the same narrowed five times, and
with --fine 101 x 101 grids (minutes). How fine the paper's grids are is not known: objectives stand beside the times.
Then 1,000 curves of 10,000 points, as arrays, and as a tidy table that is smoothed, resampled and fitted. CPU seconds
of one thread.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from scaling_collapse.surrogate.data import CurveSet, curve_set
from scaling_collapse.surrogate.evaluate import predicted
from scaling_collapse.surrogate.fit import fit_surrogate
from scaling_collapse.surrogate.form import Surrogate
from tests.unit.surrogate import alternating_grid
from tests.unit.surrogate.support import TPP, TRUTH, linear_rate

NOISE = 0.004  # of each point, and of each run's shape [of L(T)]


def curves(runs: int, points: int, first: float = 0.2, seed: int = 0) -> CurveSet:
    """Draw curves over t_hat in [first, 1], tau log-uniform in [.03, 1], TPP as in Table 4."""
    rng = np.random.default_rng(seed)
    t = np.linspace(first, 1, points)
    tau, tpp = np.exp(rng.uniform(np.log(0.03), 0, runs)), rng.choice(TPP, runs)
    rate = np.tile(linear_rate(t), (runs, 1))
    names = tuple(f"run{i}" for i in range(runs))
    exact = CurveSet(names, ("111M",) * runs, tau, tpp, t, np.ones((runs, points)), rate, rate[:, -1])
    noise = NOISE * (rng.standard_normal((runs, 1)) * (1 - t) + rng.standard_normal((runs, points)))
    return CurveSet(**{**vars(exact), "loss": predicted(Surrogate(**TRUTH), exact) + noise})


def table(runs: int, points: int) -> pd.DataFrame:
    """The same as a tidy table over the whole of training, with losses that end near 3 nats."""
    drawn = curves(runs, points, first=1 / points)
    step = np.tile(np.arange(1, points + 1), runs)
    columns = {
        "run": pd.Categorical(np.repeat(drawn.runs, points), categories=drawn.runs),
        "step": step,
        "tokens": 1000.0 * step,
        "tokens_total": 1000.0 * points,
        "loss": 3 * drawn.loss.ravel(),
        "lr": drawn.rate.ravel(),
        "tau": np.repeat(drawn.tau, points),
        "tpp": np.repeat(drawn.tpp, points),
    }
    constants = {"size_params": 1e8, "batch_tokens": 1e3, "lr_peak": 0.01, "weight_decay": 0.1, "seed": 0.0}
    return pd.DataFrame(columns | constants | {"schedule": "linear_to_zero", "split": "train"})


def timed(action: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """Median CPU seconds of `rounds` calls, and the last result."""
    seconds = []
    for _ in range(rounds):
        begin = time.process_time()
        result = action()
        seconds.append(time.process_time() - begin)
    return median(seconds), result


def compare(rounds: int, fine: bool) -> None:
    """Print the fit of 112 curves beside the grids."""
    few = curves(112, 1000)
    fit_surrogate(few)  # imports what it needs
    ours, fit = timed(lambda: fit_surrogate(few), rounds)
    report("112 x 1,000, fit", ours, fit.objective_percent)
    grids: dict[str, dict[str, float]] = {
        "grids of 41 x 41": {"points": 41},
        "41 x 41, narrowed": {"points": 41, "levels": 6, "shrink": 0.5},
    }
    if fine:
        grids["grids of 101 x 101"] = {"points": 101}
    for name, settings in grids.items():
        seconds, (_, objective) = timed(partial(alternating_grid.fit, few, **settings), 1)
        report(f"112 x 1,000, {name}", seconds, 100 * objective, f"{seconds / ours:.0f} times the fit's time")


def report(what: str, seconds: float, objective_percent: float, remark: str = "") -> None:
    print(f"{what:36} {seconds:8.2f} s   objective {objective_percent:.5f}%   {remark}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--fine", action="store_true")
    arguments = parser.parse_args()
    compare(arguments.rounds, arguments.fine)
    seconds, fit = timed(partial(fit_surrogate, curves(1000, 10_000)), 1)
    report("1,000 x 10,000, fit", seconds, fit.objective_percent)
    seconds, drawn = timed(partial(curve_set, table(1000, 10_000)), 1)
    print(f"{'1,000 x 10,000, table to grid':36} {seconds:8.2f} s   {drawn.loss.shape[1]} points each", flush=True)
    seconds, fit = timed(partial(fit_surrogate, drawn), 1)
    report("1,000 x 10,000, fit on the grid", seconds, fit.objective_percent)


if __name__ == "__main__":
    main()
