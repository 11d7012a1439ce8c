"""Curves of logs as the project's table: in memory, or written piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scaling_collapse.curves.table import COMMON_COLUMNS, checked
from scaling_collapse.errors import LogError
from scaling_collapse.logs.curves import LogCurve
from scaling_collapse.whole_file import appearing

if TYPE_CHECKING:
    import pandas as pd

#: Rows of the table that are in memory at a time while it is written.
PIECE = 1 << 17

_ARRAYS = ("step", "loss", "lr", "tokens")


def tidy(curves: Sequence[LogCurve]) -> pd.DataFrame:
    """Return the checked table of the curves."""
    import pandas as pd

    frames = [pd.DataFrame(_columns(curve), columns=list(COMMON_COLUMNS)) for curve in curves]
    return checked(pd.concat(frames, ignore_index=True), "imported logs")


def write(curves: Sequence[LogCurve], path: Path) -> None:
    """Write the table of the curves as .parquet or .csv, beside its place first, then moved there whole.

    It is the table that `tidy` returns, without ever being in memory. Raises LogError for another suffix.
    """
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    if path.suffix not in (".parquet", ".csv"):
        raise LogError(str(path), "curves are written as .parquet or .csv.")
    types = {"text": pyarrow.string(), "number": pyarrow.float64(), "whole": pyarrow.int64()}
    schema = pyarrow.schema([(name, types[column.kind]) for name, column in COMMON_COLUMNS.items()])
    make = pyarrow.parquet.ParquetWriter if path.suffix == ".parquet" else pyarrow.csv.CSVWriter
    path.parent.mkdir(parents=True, exist_ok=True)
    with appearing(path) as partial, make(partial, schema) as writer:
        for pieces in _batches(curves):
            tables = [_table(piece, schema) for piece in pieces]
            writer.write_table(pyarrow.concat_tables(tables))


def _batches(curves: Sequence[LogCurve]) -> Iterator[list[LogCurve]]:
    """Yield about PIECE rows at a time: several short curves, or a part of a long one."""
    batch: list[LogCurve] = []
    rows = 0
    for curve in curves:
        for start in range(0, len(curve.step), PIECE):
            arrays = [getattr(curve, name)[start : start + PIECE] for name in _ARRAYS]
            step, loss, lr, tokens = arrays
            batch.append(LogCurve(curve.run, curve.split, step, loss, lr, tokens, curve.facts))
            rows += len(step)
            if rows >= PIECE:
                yield batch
                batch, rows = [], 0
    if batch:
        yield batch


def _columns(curve: LogCurve) -> dict[str, Any]:
    return {"run": curve.run, "split": curve.split, **curve.facts, **{name: getattr(curve, name) for name in _ARRAYS}}


def _table(curve: LogCurve, schema: Any) -> Any:
    """Return one piece as an arrow table; NaN is "not known", so null."""
    import pyarrow

    arrays = []
    for entry in schema:
        value = _columns(curve)[entry.name]
        if isinstance(value, str):
            zeros = pyarrow.array(np.zeros(len(curve.step), dtype=np.int32))
            arrays.append(pyarrow.DictionaryArray.from_arrays(zeros, [value]).cast(entry.type))
        else:
            values = value if isinstance(value, np.ndarray) else np.full(len(curve.step), float(value))
            arrays.append(pyarrow.array(values, type=entry.type, from_pandas=True))
    return pyarrow.table(arrays, schema=schema)
