"""How often the alarm errs on healthy runs, and what it sees of planted faults.

    python -m benchmarks.alarm_rate thresholds            the tables of diagnose/thresholds.py
    python -m benchmarks.alarm_rate rate --runs 1000      false alarms of simulated healthy runs, whole programs
    python -m benchmarks.alarm_rate noises --runs 20000   the two tests alone, with noise that is not as they suppose
    python -m benchmarks.alarm_rate power CURVES          real runs of the cpu scale (curves.parquet): healthy, and with
                                                          faults planted at 60% of training
    python -m benchmarks.alarm_rate speed                 updates per second

Everything is seeded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import typer

from scaling_collapse.curves.curve import Curve, curves_of
from scaling_collapse.curves.table import read_curves
from scaling_collapse.diagnose.diagnose import diagnose_curve, diagnose_log
from scaling_collapse.diagnose.monitor import Monitor
from scaling_collapse.diagnose.noise import noise_variance
from scaling_collapse.diagnose.reference import Reference, pooled, reference_of, surrogate_reference
from scaling_collapse.diagnose.rise import rise
from scaling_collapse.diagnose.thresholds import BINS_OF_RUN, RATES, Test, threshold
from scaling_collapse.diagnose.whiten import WANDER, excess, whitened
from scaling_collapse.surrogate.form import PAPER
from scaling_collapse.surrogate.published import PUBLISHED
from scaling_collapse.surrogate.rates import rates_of_run

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

POINTS_OF_BIN, NOISE = 10, 0.01
#: Noise of the tables over NOISE: for the rise so much that the walk does not count, which is its worst case.
SCALES: dict[Test, float] = {"residual": 1.0, "rise": 3.0}
Noise = Callable[[np.random.Generator, int, int], np.ndarray]


def white(rng: np.random.Generator, runs: int, bins: int) -> np.ndarray:
    return rng.standard_normal((runs, bins))


def autocorrelated(rho: float) -> Noise:
    def noise(rng: np.random.Generator, runs: int, bins: int) -> np.ndarray:
        values = rng.standard_normal((runs, bins))
        for i in range(1, bins):
            values[:, i] = rho * values[:, i - 1] + np.sqrt(1 - rho**2) * values[:, i]
        return values

    return noise


def heavy(rng: np.random.Generator, runs: int, bins: int) -> np.ndarray:
    return rng.standard_t(5, (runs, bins, POINTS_OF_BIN)).sum(axis=2) / np.sqrt(POINTS_OF_BIN * 5 / 3)


def growing(rng: np.random.Generator, runs: int, bins: int) -> np.ndarray:
    return rng.standard_normal((runs, bins)) * np.linspace(0.85, 1.15, bins)


def statistics(
    runs: int, bins: int, noise: Noise = white, scale: float = 1.0, walk: float = 1.0, seed: int = 1
) -> Iterator[tuple[Test, np.ndarray]]:
    """Largest statistic of each simulated healthy run: a level, the healthy walk and noise of the bins."""
    rng = np.random.default_rng(seed)
    fraction, count = np.arange(1, bins + 1) / bins, np.full(bins, float(POINTS_OF_BIN))
    ends = np.arange(bins)
    found: dict[Test, list[np.ndarray]] = {"residual": [], "rise": []}
    for start in range(0, runs, 500):
        some = min(500, runs - start)
        walks = np.cumsum(rng.standard_normal((some, bins)), axis=1) * walk * WANDER / np.sqrt(bins)
        values = walks + scale * NOISE / np.sqrt(POINTS_OF_BIN) * noise(rng, some, bins)
        variance, freedom = noise_variance(values, count, fraction)
        errors = whitened(values, count, fraction, variance, freedom)
        found["residual"].append(excess(errors, count, ends).max(axis=1))
        found["rise"].append(rise(values, count, fraction, ends, WANDER).max(axis=1))
    for test, parts in found.items():
        yield test, np.concatenate(parts)


@app.command()
def thresholds(runs: int = 40_000) -> None:
    for bins in BINS_OF_RUN:
        for test, scale in SCALES.items():
            values = dict(statistics(runs, bins, scale=scale))[test]
            print(bins, test, ", ".join(f"{q:.2f}" for q in np.quantile(values, 1 - np.array(RATES))), flush=True)


@app.command()
def noises(runs: int = 20_000, bins: int = 150) -> None:
    cases: dict[str, tuple[Noise, float, int, float]] = {
        "white": (white, 1.0, bins, 1.0),
        "white, a third of the noise": (white, 0.33, bins, 1.0),
        "white, three times the noise": (white, 3.0, bins, 1.0),
        "a walk of twice the size": (white, 1.0, bins, 2.0),
        "20 bins": (white, 1.0, 20, 1.0),
        "20 bins, three times the noise": (white, 3.0, 20, 1.0),
        "growing by 30%": (growing, 1.0, bins, 1.0),
        "Student's t, 5, of each point": (heavy, 1.0, bins, 1.0),
        "autocorrelation 0.3": (autocorrelated(0.3), 1.0, bins, 1.0),
        "autocorrelation 0.6": (autocorrelated(0.6), 1.0, bins, 1.0),
    }
    for name, (noise, scale, number, walk) in cases.items():
        for test, values in statistics(runs, number, noise, scale, walk, seed=2):
            rates = [f"{100 * np.mean(values > threshold(test, number, rate)):.2f}%" for rate in (0.01, 0.05)]
            print(f"{name:32s} {test:9s} at 1%: {rates[0]}   at 5%: {rates[1]}", flush=True)


def healthy_log(rng: np.random.Generator, steps: int, course: np.ndarray) -> np.ndarray:
    """Losses of a healthy run: a course, half of the walk's variance, and noise of 1.4% a step, as `cpu` has."""
    walk = np.cumsum(rng.standard_normal(steps)) * WANDER / np.sqrt(2 * steps)
    return np.asarray(course * np.exp(walk + 0.014 * rng.standard_normal(steps)))


@app.command()
def rate(runs: int = 1000, steps: int = 2000) -> None:
    t = np.arange(1, steps + 1) / steps
    falling = 3 * ((1.001 / (t + 0.001)) ** 0.05 + 0.12 * (np.minimum(1, (1 - t) / 0.9) + 0.1))
    for name, course, with_reference in (
        ("falling, with reference", falling, True),
        ("falling, without", falling, False),
        ("constant, without (worst case)", np.full(steps, 3.0), False),
    ):
        for stated in (0.01, 0.05):
            rng, alarms = np.random.default_rng(3), 0
            for _ in range(runs):
                other = Reference(t, np.log(healthy_log(rng, steps, course)), "simulated") if with_reference else None
                found = diagnose_log("run", t * steps, healthy_log(rng, steps, course), steps, other, rate=stated)
                alarms += not found.healthy
            error = 100 * np.sqrt(stated * (1 - stated) / runs)
            share = 100 * alarms / runs
            print(f"{name:32s} stated {100 * stated:g}% +- {error:.2f}%, measured {share:.2f}%", flush=True)


FAMILIES = (
    [f"{size}-tpp20-base-s{seed}" for size in ("105k", "142k", "246k", "348k") for seed in (0, 1)],
    [f"{size}-tpp80-base-s0" for size in ("74k", "105k", "142k")],
    [f"{size}-tpp234-base-s0" for size in ("74k", "105k")],
    [f"{size}-tpp20-constant-s0" for size in ("105k", "142k", "246k")],
    [f"{size}-tpp20-x10-s0" for size in ("105k", "142k", "246k")],
)
SHAPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "step": lambda x: (x > 0) * 1.0,
    "ramp": lambda x: x,
    "growing ramp": lambda x: x**2,
}
SIZES = (0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15)
BEGIN = 0.6


def planted(curve: Curve, shape: str, size: float) -> Curve:
    """The curve with its loss raised from 60% of training on, by `size` at the end."""
    x = np.clip((curve.t_hat - BEGIN) / (1 - BEGIN), 0, None)
    return replace(curve, loss=curve.loss * (1 + size * SHAPES[shape](x)))


@app.command()
def power(path: Path) -> None:
    frame = read_curves(path)
    train = {curve.run: curve for curve in curves_of(frame, "train")}
    held_out = {curve.run: curve for curve in curves_of(frame, "validation")}
    rows = dict(tuple(frame.groupby("run")))
    families = [[run for run in family if run in train] for family in FAMILIES]
    report_healthy(train, held_out, families)
    for name, cases in references(train, rows, families).items():
        for shape in SHAPES:
            report_power(name, shape, cases)


def report_healthy(train: dict[str, Curve], held_out: dict[str, Curve], families: list[list[str]]) -> None:
    alone = [diagnose_curve(curve, validation=held_out[run]) for run, curve in train.items()]
    print(f"{len(alone)} runs without reference: {sum(not found.healthy for found in alone)} with alarms")
    pairs = [(a, b) for family in families for a in family for b in family if a != b]
    found = [diagnose_curve(train[a], reference_of(train[b], train[a]), held_out[a]) for a, b in pairs]
    print(f"{len(pairs)} pairs of a run and a reference: {sum(not one.healthy for one in found)} with alarms")
    for one in (*alone, *found):
        for alarm in one.alarms:
            print("   ", alarm.run, alarm.kind, alarm.onset_fraction, alarm.evidence)


def references(
    train: dict[str, Curve], rows: dict[str, object], families: list[list[str]]
) -> dict[str, list[tuple[Curve, Reference | None]]]:
    """Runs and references of each kind."""
    batches = [("142k-tpp20-b8-tau0.223-s0", "142k-tpp20-b8-tau0.301-s0"), ("105k-tpp20-base-s0", "105k-tpp20-b4-s0")]
    seeds = [(f"{size}-tpp20-base-s{a}", f"{size}-tpp20-base-s{1 - a}") for size in ("105k", "142k") for a in (0, 1)]
    smaller = [(big, small) for family in families for small, big in pairwise(family)]
    smaller = [(big, small) for big, small in smaller if train[big].size_params > train[small].size_params]
    surrogate = PUBLISHED[PAPER, "train"].surrogate
    base = [family[-1] for family in families[:3]]
    return {
        "same size and batches": [(train[a], reference_of(train[b])) for a, b in batches],
        "same size, other seed": [(train[a], reference_of(train[b])) for a, b in seeds],
        "next smaller size": [(train[a], reference_of(train[b])) for a, b in smaller],
        "mean of the family": [
            (train[family[-1]], pooled([reference_of(train[run]) for run in family[:-1]])) for family in families
        ],
        "surrogate": [
            (train[run], surrogate_reference(surrogate, train[run], rates_of_run(run, rows[run]))) for run in base
        ],
        "none": [(train[run], None) for family in families for run in family],
    }


def report_power(name: str, shape: str, cases: list[tuple[Curve, Reference | None]]) -> None:
    for size in SIZES:
        told, errors, inside, found = [], [], 0, 0
        for curve, reference in cases:
            alarms = diagnose_curve(planted(curve, shape, size), reference).alarms
            told.append(np.inf)
            if not alarms or alarms[0].onset_fraction is None:
                continue
            alarm, found = alarms[0], found + 1
            total = curve.steps[-1] / curve.t_hat[-1]
            told[-1] = alarm.alarm_step / total
            errors.append(abs(alarms[0].onset_fraction - BEGIN))
            low, high = alarm.onset_interval
            inside += low / total <= BEGIN + 0.005 and high / total >= BEGIN - 0.005
        median = f"{np.median(told):.3f}" if np.isfinite(np.median(told)) else "  -  "
        early = np.mean([at <= 0.7 for at in told])
        onset = f"{100 * np.median(errors):.1f}%" if errors else "-"
        near = np.mean([error <= 0.03 for error in errors]) if errors else 0.0
        print(
            f"{name:22s} {shape:13s} {100 * size:5.1f}%: {found} of {len(cases)} told, median at {median}, by 0.7 "
            f"{100 * early:3.0f}%; onset off by {onset}, within 3% {100 * near:3.0f}%, in the interval {inside}",
            flush=True,
        )


@app.command()
def speed(steps: int = 200_000) -> None:
    rng, t = np.random.default_rng(0), np.arange(1, steps + 1) / steps
    losses = healthy_log(rng, steps, 3 * t**-0.05).tolist()
    for name, total in (("length known", steps), ("length not known", None)):
        monitor = Monitor("run", total)
        start = time.process_time()
        for step, loss in enumerate(losses, 1):
            monitor.update(step, loss)
        print(f"{name}: {steps / (time.process_time() - start):,.0f} updates/s")


if __name__ == "__main__":
    app()
