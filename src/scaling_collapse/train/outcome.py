"""How a run ended, and the files that say so: curves, weights, run.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from scaling_collapse.plan.run import Run
from scaling_collapse.train.files import delete_unfinished, write_atomically, writing
from scaling_collapse.train.log import Record, Split

if TYPE_CHECKING:
    from torch import Tensor

Status = Literal["finished", "diverged"]

#: Columns of the two tables beside `step` and `tokens`.
COLUMNS: dict[Split, tuple[str, ...]] = {
    "train": ("loss_nats", "learning_rate", "gradient_norm", "tokens_per_second"),
    "validation": ("loss_nats", "bits_per_byte"),
}


@dataclass(frozen=True)
class Outcome:
    """The content of run.json beside the run itself. Losses in nats per token; None = not finite, or not known."""

    status: Status
    reason: str | None
    steps_done: int
    final_loss_nats: float | None
    final_validation_loss_nats: float | None
    final_validation_bits_per_byte: float | None
    final_validation_sequences: int
    epochs: float
    seconds: float
    bytes_per_token: float | None
    execution: dict[str, Any]
    identity: dict[str, str]


def write_outputs(
    folder: Path, run: Run, records: list[Record], weights: Mapping[str, Tensor], outcome: Outcome
) -> None:
    """Write train.parquet, validation.parquet, weights.safetensors and, last, run.json. Raises RunError.

    run.json is removed first: while it is absent, the other files are not to be believed.
    """
    from scaling_collapse.train.checkpoint import save_tensors

    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "run.json").unlink(missing_ok=True)
        delete_unfinished(folder)
    for split in COLUMNS:
        write_atomically(folder / f"{split}.parquet", partial(_write_table, run, records, split))
    save_tensors(folder / "weights.safetensors", weights, {"run_id": run.run_id, "step": outcome.steps_done})
    text = json.dumps({"run": run.model_dump(mode="json"), **asdict(outcome)}, indent=1, allow_nan=False)
    write_atomically(folder / "run.json", partial(_write_text, text + "\n"))


def finished_with(folder: Path, identity: dict[str, str]) -> bool:
    """Whether a folder holds the outputs of a run of this identity."""
    try:
        return bool(json.loads((folder / "run.json").read_text())["identity"] == identity)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _write_table(run: Run, records: list[Record], split: Split, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [record for record in records if record.split == split]
    steps = [record.step for record in rows]
    table = {
        "step": pa.array(steps, pa.int64()),
        "tokens": pa.array([step * run.batch_tokens for step in steps], pa.int64()),
    }
    for column in COLUMNS[split]:
        table[column] = pa.array([record.values.get(column) for record in rows], pa.float64())
    pq.write_table(pa.table(table), path)


def _write_text(text: str, path: Path) -> None:
    path.write_text(text)
