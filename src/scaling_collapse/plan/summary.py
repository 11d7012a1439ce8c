"""A plan as rows and totals, for tables, JSON and CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scaling_collapse.config.explain import did_you_mean
from scaling_collapse.config.scale import Scale
from scaling_collapse.config.yaml_file import place
from scaling_collapse.errors import ConfigError
from scaling_collapse.plan.run import Run


@dataclass(frozen=True)
class Total:
    """Sums of a group. `new_*` leave out runs that an earlier group has already."""

    group: str
    source: str
    ours: bool
    runs: int
    flops: float
    new_runs: int
    new_flops: float


def choose(scale: Scale, runs: Sequence[Run], group: str | None) -> list[Run]:
    """Runs of a group, or all. Raises ConfigError for a group that the scale does not have."""
    if group is None:
        return list(runs)
    names = [g.name for g in scale.groups]
    if group not in names:
        raise ConfigError(place(scale.file, ["groups"]), f"unknown group {group!r}", did_you_mean(group, names))
    return [run for run in runs if group in run.groups]


def row(scale: Scale, run: Run, group: str | None = None) -> dict[str, Any]:
    """One run as plain values. `group` is the one asked for, else the first that uses the run.

    Units: tokens, batch_tokens [tokens]; peak_lr before and hidden_lr after width scaling; weight_decay after it.
    `ours` is true where no group that uses the run has its values from the paper.
    """
    return {
        "run_id": run.run_id,
        "group": group or run.groups[0],
        "groups": list(run.groups),
        "ours": all(scale.find_group(name).ours for name in run.groups),
        "family": run.family,
        "size": run.size,
        "data": run.data,
        "params": run.params,
        "tokens": run.tokens,
        "tpp": run.tpp,
        "batch_sequences": run.batch_sequences,
        "batch_tokens": run.batch_tokens,
        "steps": run.steps,
        "peak_lr": run.optimizer.peak_lr,
        "hidden_lr": run.hidden_lr,
        "weight_decay": run.optimizer.weight_decay,
        "tau": run.tau,
        "schedule": run.schedule.kind,
        "seed": run.seed,
        "flops": run.flops,
    }


def totals(scale: Scale, runs: Sequence[Run], only: str | None = None) -> list[Total]:
    """Sums of every group (or one) that has a run among `runs`, in the scale's order."""
    result, counted = [], set[str]()
    for group in scale.groups if only is None else [scale.find_group(only)]:
        members = [run for run in runs if group.name in run.groups]
        new = [run for run in members if run.run_id not in counted]
        counted |= {run.run_id for run in new}
        sums = (len(members), sum(r.flops for r in members), len(new), sum(r.flops for r in new))
        if members:
            result.append(Total(group.name, group.source, group.ours, *sums))
    return result


def scaled(value: float) -> str:
    """Four digits and a letter: 132.4k, 109.4M, 3.882B."""
    for factor, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.4g}{letter}"
    return f"{value:g}"
