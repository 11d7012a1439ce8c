"""runs.csv: every run of a scale with its recipe and how it ended, one row a run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from scaling_collapse.curves.build import run_record
from scaling_collapse.errors import CurveError
from scaling_collapse.paths import Paths
from scaling_collapse.plan.run import Run

if TYPE_CHECKING:
    import pandas as pd

#: What is copied from run.json, where the run has ended.
OUTCOME = (
    "final_loss_nats",
    "final_validation_loss_nats",
    "final_validation_bits_per_byte",
    "epochs",
    "seconds",
)

#: Status of a run without run.json.
NOT_TRAINED = "not trained"


def runs_table(paths: Paths, runs: Iterable[Run]) -> pd.DataFrame:
    """Return one row for each run: recipe, status (finished, diverged, not trained) and outcome (empty if none)."""
    import pandas as pd

    return pd.DataFrame([_recipe(run) | _outcome(paths, run) for run in runs])


def _recipe(run: Run) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "groups": " ".join(run.groups),
        "size": run.size,
        "params": run.params,
        "tokens": run.tokens,
        "tpp": run.tpp,
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


def _outcome(paths: Paths, run: Run) -> dict[str, Any]:
    folder = paths.run(run.run_id)
    if not (folder / "run.json").exists():
        return {"status": NOT_TRAINED} | dict.fromkeys(OUTCOME)
    record = run_record(folder)
    missing = [name for name in OUTCOME if name not in record]
    if missing:
        raise CurveError(str(folder / "run.json"), f"lacks {', '.join(missing)}.", "train the run again")
    return {"status": record["status"]} | {name: record[name] for name in OUTCOME}
