"""`collapse table`: compute one table from the results of a scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    import pandas as pd

#: Tables of at most so many rows are shown whole, turned on their side: a column for each row.
FEW_ROWS = 6

#: Columns of longer tables that the screen has room for; the file has all.
BRIEF = ("run_id", "tpp", "tau", "status", "final_loss_nats", "final_validation_bits_per_byte")


def table(
    name: str = typer.Argument(help="Table: headline, runs, table_11, table_12 or back_test."),
    scale: str = typer.Option("cpu", "--scale", help="Scale: smoke, cpu, paper, or a file."),
) -> None:
    """Compute one table and write it to results/<scale>/tables/<name>.csv."""
    from rich.console import Console
    from rich.table import Table

    from scaling_collapse.config.load import load_scale
    from scaling_collapse.tables.registry import make_table

    frame, path = make_table(name, load_scale(scale))
    shown = Table(title=f"{path}: {len(frame)} rows", title_justify="left")
    for row in _turned(frame) if len(frame) <= FEW_ROWS else _brief(frame):
        if shown.columns:
            shown.add_row(*map(_cell, row))
        else:
            for heading in row:
                shown.add_column(str(heading), overflow="fold")
    Console().print(shown)


def _turned(frame: pd.DataFrame) -> list[list[Any]]:
    """Return a list for each column: its name, then its values."""
    return [[name.replace("_", " "), *frame[name]] for name in frame.columns]


def _brief(frame: pd.DataFrame) -> list[list[Any]]:
    """Return headings, then a list for each row."""
    columns = [name for name in BRIEF if name in frame.columns]
    return [[name.replace("_", " ") for name in columns], *frame[columns].to_numpy().tolist()]


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
