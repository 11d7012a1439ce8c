"""What stages that must run will take: device-hours by what finished runs took here, and disk."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from statistics import median

from scaling_collapse.identity.resolve import State
from scaling_collapse.identity.stage import contents_of
from scaling_collapse.plan.run import Run

FLOAT32 = 4  # bytes of a weight
STEP_BYTES = 45  # bytes that a training step takes in train.parquet: the median of 60 runs of the cpu scale, 36 to 47


def measured_throughput(runs: Path) -> float | None:
    """Return the median training FLOP/s of a device over the finished runs in a folder; None where there is none."""
    rates = []
    for path in runs.glob("*/run.json"):
        with suppress(OSError, ValueError, KeyError, TypeError, ZeroDivisionError):
            record = json.loads(path.read_text(encoding="utf-8"))
            rates.append(record["run"]["flops"] / record["seconds"] / record["execution"]["ranks"])
    return median(rates) if rates else None


def device_hours(runs: list[Run], throughput: float | None) -> float | None:
    """Return how long one device would train these runs [h]; None where nothing was measured yet."""
    return None if throughput is None else sum(run.flops for run in runs) / throughput / 3600


def disk_bytes(state: State, run: Run | None) -> int:
    """Return the size of a stage's files [bytes]: as recorded, or of a run not trained yet by weights and steps."""
    if state.record is not None:
        return sum(content.size for content in contents_of(state.record).values())
    return FLOAT32 * run.params + STEP_BYTES * run.steps if run else 0
