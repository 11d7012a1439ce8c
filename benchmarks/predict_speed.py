"""Time the prediction of many long curves.

    python benchmarks/predict_speed.py --curves 1000 --points 10000 --at 0.3

Curves are drawn from the paper's surrogate (Eq. 4, 5) with noise. Prints the seconds for curves as arrays, which is
the bar (10 s for 1,000 curves of 10,000 points on two cores), and for the same curves as a tidy table.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
import pandas as pd

from scaling_collapse.curves.curve import Curve
from scaling_collapse.predict.predict import predict_curves
from scaling_collapse.predict.table import predict_table
from scaling_collapse.predict.template import Template

#: Seconds that the bar allows.
BAR = 10.0


def shape(t_hat: np.ndarray) -> np.ndarray:
    eta = np.minimum(t_hat / 0.1, (1 - t_hat) / 0.9)
    raw = (1.001 / (t_hat + 0.001)) ** 0.05 + 0.12 * (eta + 0.1)
    return raw / raw[-1]


def make_curves(number: int, points: int, noise: float) -> list[Curve]:
    random, step = np.random.default_rng(0), np.arange(1.0, points + 1)
    t_hat = step / points
    exact, found = shape(t_hat), []
    for index in range(number):
        size = 1e7 * (1 + index / number)
        loss = 3 * exact * (1 + noise * random.standard_normal(points))
        facts = {"size_params": size, "tokens_total": 20 * size, "tpp": 20.0, "tau": 0.2, "schedule": "linear_to_zero"}
        tokens = t_hat * 20 * size
        found.append(Curve(f"run{index}", "train", t_hat, loss, step, tokens, None, facts))
    return found


def tidy(curves: list[Curve]) -> pd.DataFrame:
    parts = []
    for curve in curves:
        columns = {"run": curve.run, "step": curve.steps, "tokens": curve.tokens, "loss": curve.loss, "lr": 0.01}
        parts.append(pd.DataFrame(columns | {"split": "train"} | curve.facts))
    return pd.concat(parts, ignore_index=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--curves", type=int, default=1000)
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--at", type=float, default=0.3)
    parser.add_argument("--noise", type=float, default=0.02)
    parser.add_argument("--table", action="store_true", help="time the tidy table too (needs about 2 GB)")
    options = parser.parse_args()
    curves = make_curves(options.curves, options.points, options.noise)
    t_hat = curves[0].t_hat
    template = Template(t_hat, shape(t_hat), "exact", 20.0, 0.2, "linear_to_zero")
    begin = time.monotonic()
    predictions = predict_curves(curves, template, options.at)
    seconds = time.monotonic() - begin
    error = float(np.mean([abs(p.error_percent) for p in predictions]))
    print(f"{len(predictions)} curves of {options.points} points: {seconds:.2f} s, mean error {error:.3f}%")
    if options.table:
        table = tidy(curves)
        begin = time.monotonic()
        predict_table(table, template, options.at)
        print(f"the same as a table of {len(table):,} rows: {time.monotonic() - begin:.2f} s")
    return 0 if seconds <= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
