"""Loss curves drawn from the paper's surrogate (Eq. 4, 5) instead of from training: instant, and the same each time.

    l(t) = ((1+e1)/(t+e1))^m + b*(eta(t)+e2)^q, divided by its value at t = 1; loss = L(T)*l(t) + noise

with m, e1, e2 of PAPER.md section 2 and b, q near the values that small models gave. Every run group that the figures
read is here, with every column of the tidy table.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

SIZES = {"132k": 132_000, "170k": 170_000, "262k": 262_000, "466k": 466_000}
SEQUENCE = 128
FAULT_AT = 0.6
TAUS = (0.026, 0.053, 0.105, 0.210, 0.421)  # Fig 3


@dataclass(frozen=True)
class SyntheticRun:
    """What a curve follows from; lambda follows from tau."""

    size: str = "132k"
    tpp: float = 20
    tau: float = 0.2
    schedule: str = "linear_to_zero"
    batch: int = 8  # sequences
    lr: float = 0.008
    seed: int = 0
    steps: int = 240
    diverges_at: float | None = None  # fraction of training
    penalty: float = 0.0  # how much worse the final loss is [relative]
    restart: str = ""
    fault: float = 0.0  # how far the loss has risen at the end, growing evenly from FAULT_AT [relative]

    @property
    def params(self) -> int:
        return SIZES[self.size]

    @property
    def run_id(self) -> str:
        word = f"{self.schedule}-t{self.tau:g}-b{self.batch}-lr{self.lr:g}"
        word += f"-{self.restart}" if self.restart else ""
        return f"{self.size}-tpp{self.tpp:g}-{word}-s{self.seed}".replace("_", "-")


def shape(run: SyntheticRun, t: np.ndarray, eta: np.ndarray) -> np.ndarray:
    """Return l(t), float64 of shape (steps,)."""
    b, q = 0.083 * run.tau**-0.27, 4.7 * run.tpp**-0.51
    if run.schedule == "constant":  # Fig 10: no final drop; a small tau drops early
        curve = (1.001 / (t + 0.001)) ** (0.05 + 0.05 * run.tau**0.5)
    else:
        curve = (1.001 / (t + 0.001)) ** 0.05 + b * (eta + 0.1) ** q
    return curve / curve[-1]


def factors(schedule: str, t: np.ndarray) -> np.ndarray:
    """Return the learning rate relative to its peak, float64 of shape (steps,)."""
    decay = {"linear_to_zero": 1 - t, "linear_10x": 1 - 0.9 * t, "constant": np.ones_like(t)}[schedule]
    return np.minimum(decay, t / 0.1)


def rows(run: SyntheticRun) -> pd.DataFrame:
    """Return the tidy rows of one run, both splits."""
    random = np.random.default_rng(zlib.crc32(run.run_id.encode()))
    step = np.arange(1, run.steps + 1)
    t = step / run.steps
    eta = factors(run.schedule, t)
    params, tokens_total = run.params, int(run.params * run.tpp)
    final = (1.2 + 9 * (params / 1e4) ** -0.34 + 0.5 * (run.tpp / 20) ** -0.4) * (1 + run.penalty)
    exact = final * shape(run, t, eta) * (1 + 0.002 * random.standard_normal() * (1 - t))
    exact = exact * (1 + run.fault * np.maximum(0, (t - FAULT_AT) / (1 - FAULT_AT)))
    table = {
        "run": run.run_id,
        "size_params": params,
        "tokens_total": tokens_total,
        "batch_tokens": run.batch * SEQUENCE,
        "lr_peak": run.lr,
        "weight_decay": run.batch * SEQUENCE / (run.lr * run.tau * tokens_total),
        "schedule": run.schedule,
        "step": step,
        "tokens": np.round(t * tokens_total).astype(np.int64),
        "loss": exact + 0.012 * random.standard_normal(run.steps),
        "lr": run.lr * eta,
        "split": "train",
        "seed": run.seed,
        "size": run.size,
        "tpp": float(run.tpp),
        "tau": run.tau,
        "flops_total": 7.0 * params * tokens_total,
        "restart": run.restart,
        "status": "diverged" if run.diverges_at else "finished",
        "gradient_norm": 0.3 + 0.2 * random.random(run.steps),
        "bits_per_byte": np.nan,
    }
    train = pd.DataFrame(table)
    validation = train[step % (run.steps // 20) == 0].copy()
    validation["split"], validation["loss"] = (
        "validation",
        (exact[validation.step - 1] + 0.002 * random.standard_normal(20)) * 1.004,
    )
    validation["lr"] = validation["gradient_norm"] = np.nan
    validation["bits_per_byte"] = validation["loss"] / np.log(2) / 2.6
    both = pd.concat([train, validation], ignore_index=True)
    return both[both.step <= run.diverges_at * run.steps] if run.diverges_at else both


def _celerity(tpp: float, tau: float, sizes: tuple[str, ...]) -> list[SyntheticRun]:
    family = [SyntheticRun(size, tpp, tau, batch=8 + 2 * i) for i, size in enumerate(sizes)]
    return [*family, replace(family[0], seed=1)]


def _mis_scaled(equal_tokens: bool) -> list[SyntheticRun]:
    smallest = SIZES["132k"]
    for_all = 80 if equal_tokens else 20
    return [
        SyntheticRun(
            size,
            tpp=for_all * smallest / params if equal_tokens else 20,
            tau=0.1 if equal_tokens else 0.2 * smallest / params,
            penalty=0.0 if size == "132k" else 0.015,
        )
        for size, params in SIZES.items()
    ]


def _sweep(values: Callable[[int], dict[str, float]]) -> list[SyntheticRun]:
    middle = SyntheticRun("170k", 80, 0.105)
    return [replace(middle, tau=tau, **values(i - 2)) for i, tau in enumerate(TAUS)]  # type: ignore[arg-type]


def _taus(size: str) -> list[SyntheticRun]:
    return [SyntheticRun(size, 20, tau, penalty=0.006 * abs(np.log2(tau / 0.21))) for tau in (0.05, 0.1, 0.2, 0.4)]


def _batches_of(size: str) -> list[SyntheticRun]:
    return [SyntheticRun(size, 20, 0.025 * b, batch=b, penalty=0.006 * abs(np.log2(b / 8))) for b in (2, 4, 8, 16)]


def _restarted(wrong: str, fault: float = 0.0) -> SyntheticRun:
    return SyntheticRun("466k", 20, 0.175, batch=14, steps=1000, restart=f"restart{FAULT_AT}-{wrong}", fault=fault)


def _batches(tau: Callable[[int], float]) -> list[SyntheticRun]:
    return [SyntheticRun("170k", 20, tau(b), batch=b, penalty=0.006 * abs(np.log2(b / 8))) for b in (2, 4, 8, 16, 32)]


FOUR = tuple(SIZES)
GROUPS: dict[str, list[SyntheticRun]] = {
    "celerity_20tpp": _celerity(20, 0.175, FOUR),
    "celerity_80tpp": _celerity(80, 0.087, FOUR[:3]),
    "celerity_234tpp": _celerity(234, 0.051, FOUR[:3]),
    "fixed_weight_decay": _mis_scaled(equal_tokens=False),
    "equal_tokens": _mis_scaled(equal_tokens=True),
    "tau_by_batch": _sweep(lambda i: {"batch": int(8 * 2**i)}),
    "tau_by_lr": _sweep(lambda i: {"lr": 0.008 * 2.0**-i}),
    "tau_by_weight_decay": _sweep(lambda i: {}),
    "tpp_small": [SyntheticRun("132k", tpp, 0.053) for tpp in (20, 80, 320, 1280)],
    "tpp_large": [SyntheticRun("262k", tpp, 0.105) for tpp in (20, 80, 320)],
    "sizes_20tpp": [SyntheticRun(size, 20, 0.2) for size in FOUR],
    "batch_sweep_fixed_weight_decay": _batches(lambda b: 0.15 * b / 8),
    "batch_sweep_fixed_tau": _batches(lambda b: 0.15),
    "weight_decay_sweep_small": _taus("132k"),
    "weight_decay_sweep_large": _taus("170k"),
    "batch_sweep_small": _batches_of("132k"),
    "batch_sweep_large": _batches_of("170k"),
    "faulty_kernel": [_restarted("m9-wrong5", fault=0.08), _restarted("m9")],
    "faulty_kernel_ablation": [_restarted("m14-wrong5"), _restarted("m7-wrong5")],
    "seed_repeats": [SyntheticRun("132k", 20, 0.2, seed=seed) for seed in (0, 1)],
    **{
        f"schedule_{word}": [SyntheticRun("170k", 80, tau, schedule) for tau in (0.026, 0.105, 0.421, 1.682)]
        for word, schedule in (("constant", "constant"), ("10x", "linear_10x"), ("linear", "linear_to_zero"))
    },
    **{
        f"schedule_sizes_{word}": [SyntheticRun(size, 20, 0.3, schedule) for size in FOUR[:3]]
        for word, schedule in (("constant", "constant"), ("10x", "linear_10x"), ("linear", "linear_to_zero"))
    },
}


def group(name: str) -> pd.DataFrame:
    """Return the tidy curves of a run group, as stored in results/<scale>/curves/<group>.parquet."""
    return pd.concat([rows(run) for run in GROUPS[name]], ignore_index=True)


def groups() -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield all run groups with their curves."""
    for name in GROUPS:
        yield name, group(name)


def write_scale(results: Path) -> None:
    """Write curves/<group>.parquet for each group and curves.parquet for all runs below results/<scale>."""
    (results / "curves").mkdir(parents=True, exist_ok=True)
    tables = dict(groups())
    for name, table in tables.items():
        table.to_parquet(results / "curves" / f"{name}.parquet")
    everything = pd.concat(tables.values()).drop_duplicates(["run", "split", "step"])
    everything = everything[everything.restart == ""]
    everything.to_parquet(results / "curves.parquet")
