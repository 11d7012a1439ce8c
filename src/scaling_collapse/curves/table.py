"""The tidy table of loss curves: its schema, reading (ours or foreign, CSV or parquet), checking and writing.

One row for each (run, split, step). Foreign tables need only the first 13 columns, and of those only `run`, `step`,
`loss` and `split` filled in; columns that are not in the schema are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from scaling_collapse.errors import CurveError
from scaling_collapse.whole_file import appearing

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Column:
    """Type and meaning of a column. Text is never missing in our own tables; numbers are NaN where not known."""

    kind: Literal["text", "number", "whole"]
    meaning: str
    required: bool = False


#: Columns that every table has, foreign ones too.
COMMON_COLUMNS = {
    "run": Column("text", "name of the run, unique in the table", required=True),
    "size_params": Column("number", "parameters N"),
    "tokens_total": Column("number", "training tokens D of the whole run [tokens]"),
    "batch_tokens": Column("number", "batch B [tokens]"),
    "lr_peak": Column("number", "peak learning rate; ours: eta of the hidden matrices, after width scaling"),
    "weight_decay": Column("number", "weight decay lambda of the hidden matrices"),
    "schedule": Column("text", "kind of learning-rate schedule"),
    "step": Column("whole", "optimiser step, from 1", required=True),
    "tokens": Column("number", "tokens seen after this step [tokens]"),
    "loss": Column("number", "loss [nats per token]; train: of this step's batch, before its update", required=True),
    "lr": Column("number", "learning rate at this step (train only)"),
    "split": Column("text", "train or validation; foreign tables may use other names", required=True),
    "seed": Column("number", "seed of initialisation and of the order of the data"),
}

#: Columns that our own runs have besides.
OWN_COLUMNS = {
    "size": Column("text", "name of the size, e.g. 132k"),
    "tpp": Column("number", "tokens per parameter"),
    "tau": Column("number", "AdamW timescale B/(eta*lambda*D), Eq. 2"),
    "flops_total": Column("number", "training FLOPs of the whole run by Table 9"),
    "restart": Column("text", "restart in mid-course, e.g. restart0.6-m9; empty: none"),
    "status": Column("text", "finished or diverged"),
    "gradient_norm": Column("number", "global gradient norm before clipping (train only)"),
    "bits_per_byte": Column("number", "loss in bits per byte of text (validation only)"),
    "irreducible_nats": Column("number", "irreducible loss L0 of the run's text, where known exactly [nats]"),
    "difficulty_nats": Column(
        "number", "bigram loss of this step's batch minus that of the corpus [nats] (train only)"
    ),
}

COLUMNS = COMMON_COLUMNS | OWN_COLUMNS


def read_curves(path: Path) -> pd.DataFrame:
    """Read and check a table (.csv or .parquet). Raises CurveError, naming the file, for whatever is wrong."""
    import pandas as pd

    if path.suffix not in (".csv", ".parquet"):
        raise CurveError(str(path), f"curves are .csv or .parquet files, not {path.suffix or 'without suffix'}.")
    if not path.exists():
        raise CurveError(str(path), "there is no such file.", "collapse curves writes it from finished runs")
    try:
        frame = pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
    except (ValueError, OSError) as error:  # the parsers' errors, pyarrow's included, are ValueErrors or OSErrors
        raise CurveError(str(path), f"it is not a readable {path.suffix[1:]} table ({error}).") from error
    return checked(frame, str(path))


def checked(frame: pd.DataFrame, where: str) -> pd.DataFrame:
    """Return the table with the schema's columns and types, in order, or raise CurveError at the first fault.

    Faults: a missing column, text where numbers belong, loss that is not finite and positive, steps that do not
    increase or are below 1, tokens that do not increase, a curve of one point, a run described in two ways.
    """
    missing = [name for name in COMMON_COLUMNS if name not in frame.columns]
    if missing:
        raise CurveError(where, f"column {', '.join(missing)} is missing.", f"columns: {', '.join(COMMON_COLUMNS)}")
    if frame.empty:
        raise CurveError(where, "the table has no rows.")
    table = frame[[name for name in COLUMNS if name in frame.columns]].reset_index(drop=True)
    for name in table.columns:
        table[name] = _typed(table[name], COLUMNS[name], name, where)
    table["step"] = table["step"].astype("int64")
    _check_losses(table, where)
    _check_order(table, where)
    return table


def choose_runs(frame: pd.DataFrame, runs: list[str]) -> pd.DataFrame:
    """Return the rows of `runs`. Raises CurveError for a run that the table does not have."""
    import difflib

    known = list(map(str, frame["run"].unique()))
    for run in runs:
        if run not in known:
            near = difflib.get_close_matches(run, known, n=1)
            listed = f"use one of: {', '.join(known[:5])}{' ...' if len(known) > 5 else ''}"
            raise CurveError(run, "there is no such run in the table.", f"did you mean {near[0]}?" if near else listed)
    return frame[frame["run"].isin(runs)]


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as .parquet or .csv by its suffix: beside its place first, then moved there whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with appearing(path) as partial:
        if path.suffix == ".parquet":
            frame.to_parquet(partial, index=False)
        else:
            frame.to_csv(partial, index=False)


def _typed(values: pd.Series, column: Column, name: str, where: str) -> pd.Series:
    """Return the column with its type; required columns may not have gaps."""
    import pandas as pd

    if column.required and values.isna().any():
        row = int(np.flatnonzero(values.isna())[0])
        raise CurveError(where, f"column {name} is empty (or NaN) in row {row}.", "fill it in or drop the row")
    if column.kind == "text":
        return values.astype("str") if column.required else values.astype("object").fillna("").astype("str")
    try:
        numbers = pd.to_numeric(values).astype("float64")
    except (ValueError, TypeError) as error:
        raise CurveError(where, f"column {name} must hold numbers ({error}).") from error
    if column.kind == "whole" and (numbers % 1 != 0).any():
        row = int(np.flatnonzero(numbers % 1 != 0)[0])
        raise CurveError(where, f"column {name} must hold whole numbers, row {row} has {numbers[row]}.")
    return numbers


def _check_losses(table: pd.DataFrame, where: str) -> None:
    loss = table["loss"].to_numpy()
    bad = ~(np.isfinite(loss) & (loss > 0))
    if bad.any():
        row = table.iloc[int(np.flatnonzero(bad)[0])]
        problem = f"run {row['run']} ({row['split']}) has loss {row['loss']} at step {row['step']}"
        raise CurveError(where, f"{problem}; losses are positive and finite.", "end the curve before that step")


def _check_order(table: pd.DataFrame, where: str) -> None:
    """Check each curve's steps, tokens, number of points, and each run's description."""
    curves = table.groupby(["run", "split"], sort=False, observed=True)
    sizes = curves.size()
    if (sizes < 2).any():
        run, split = sizes.index[int(np.flatnonzero(sizes.to_numpy() < 2)[0])]
        raise CurveError(where, f"run {run} ({split}) has one point; a curve needs at least two.")
    for name, least in (("step", 1), ("tokens", 0)):
        bad = (table[name] < least) | (curves[name].diff() <= 0)
        if bad.any():
            row = table.iloc[int(np.flatnonzero(bad)[0])]
            place = f"run {row['run']} ({row['split']}) at step {row['step']}"
            raise CurveError(
                where, f"{place}: {name} {row[name]:g} is below {least} or does not increase.", "sort and deduplicate"
            )
    facts = ["size_params", "tokens_total", "batch_tokens", "lr_peak", "weight_decay", "seed"]
    variants = table.groupby("run", observed=True)[facts].nunique().max(axis=1)
    if (variants > 1).any():
        run = variants.index[int(np.flatnonzero(variants.to_numpy() > 1)[0])]
        raise CurveError(where, f"run {run} is described in two ways: one of {', '.join(facts)} varies.", "rename one")
