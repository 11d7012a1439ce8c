"""Parquet tables of metrics: W&B exports, histories of data frames."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from scaling_collapse.errors import LogError
from scaling_collapse.logs.parser import Row, Rows
from scaling_collapse.logs.records import Records

MAGIC = b"PAR1"

#: Rows that are in memory at a time.
BATCH = 1 << 14


class Parquet(Records):
    """Read from its path: the format begins at its end."""

    name = "parquet"

    def read(self, data: bytes) -> Rows:
        """Raise LogError: such a file has no beginning that could be read before its end is there."""
        raise LogError("parquet", "such a table is read from a file, not in pieces and not out of gzip.", "unpack it")

    def rows_of(self, path: Path) -> Iterator[list[Row]]:
        """Yield the losses of the table, a batch at a time. Raises LogError if it is damaged."""
        import pyarrow
        import pyarrow.parquet

        try:
            with pyarrow.parquet.ParquetFile(path, page_checksum_verification=True) as file:
                layout = self.layout(tuple(file.schema_arrow.names))
                cells = [loss.cell for loss in layout.losses] + [cell for _, cell in layout.facts]
                cells += [c for c in (layout.step, layout.tokens, layout.lr, layout.run, layout.split) if c is not None]
                wanted = sorted({layout.names[cell] for cell in cells}) if layout.losses else []
                for batch in file.iter_batches(BATCH, columns=wanted) if wanted else ():
                    columns = batch.to_pydict()
                    rows: list[Row] = []
                    empty = [None] * batch.num_rows
                    for values in zip(*(columns.get(name, empty) for name in layout.names), strict=True):
                        self.take(layout, values, rows)
                    yield rows
        except (pyarrow.ArrowException, OSError, ValueError, MemoryError, OverflowError) as error:
            line = " ".join(str(error).split())[:100]
            raise LogError(str(path), f"it is not a readable parquet table ({line}).", "write it again") from None
