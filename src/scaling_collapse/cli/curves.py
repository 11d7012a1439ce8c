"""`collapse curves`: collect the loss curves of finished runs into one table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    import pandas as pd

    from scaling_collapse.config.scale import Scale
    from scaling_collapse.paths import Paths
    from scaling_collapse.plan.run import Run


SCALE = typer.Option("cpu", "--scale", help="Scale: smoke, cpu, paper, or a file.")
GROUP = typer.Option([], "--group", help="Run group; repeat for several. Writes curves/<group>.parquet.")
ALL = typer.Option(False, "--all", help="All runs but those restarted in mid-course. Writes curves.parquet.")

#: More runs than this are not listed.
MANY_RUNS = 12


def curves(scale: str = SCALE, group: list[str] = GROUP, everything: bool = ALL) -> None:
    """Collect loss curves of finished runs into one table (columns: docs, curves)."""
    from scaling_collapse.config.load import load_scale
    from scaling_collapse.errors import ConfigError
    from scaling_collapse.paths import Paths
    from scaling_collapse.plan.expand import expand

    if not group and not everything:
        raise ConfigError("collapse curves", "nothing was asked for.", "name a --group, or give --all")
    loaded = load_scale(scale)
    paths, runs = Paths(loaded.name), expand(loaded)
    for name in group:
        chosen = [run for run in runs if name in run.groups]
        _write(chosen or _no_runs(name, loaded), paths, paths.group_curves(name))
    if everything:
        _write([run for run in runs if run.is_regular], paths, paths.curves)


def _write(runs: list[Run], paths: Paths, target: Path) -> None:
    from scaling_collapse.curves.build import build_curves
    from scaling_collapse.curves.table import write_table

    table = build_curves(paths, runs)
    write_table(table, target)
    _show(table, target)


def _no_runs(name: str, scale: Scale) -> list[Run]:
    """Raise ConfigError: the scale has no such group, or no runs in it."""
    import difflib

    from scaling_collapse.errors import ConfigError

    names = [group.name for group in scale.groups]
    near = difflib.get_close_matches(name, names, n=1)
    fix = f"did you mean {near[0]}?" if near else f"use one of: {', '.join(names)}"
    raise ConfigError(f"scale {scale.name}", f"group {name!r} has no runs.", fix)


def _show(table: pd.DataFrame, target: Path) -> None:
    """Print what was written and, for few runs, a row for each: recipe, last losses, status."""
    from rich.console import Console
    from rich.table import Table

    runs = table["run"].nunique()
    title = f"{target}: {runs} runs, {len(table):,} rows"
    if runs > MANY_RUNS:
        typer.echo(title)
        return
    last = table.drop_duplicates(["run", "split"], keep="last").set_index(["run", "split"])
    shown = Table(title=title, title_justify="left")
    shown.add_column("run", no_wrap=True)
    for heading in ("TPP", "tau", "steps", "loss", "held-out", "status"):
        shown.add_column(heading, justify="right")
    for run, rows in last.groupby("run", sort=False):
        row = rows.iloc[0]
        losses = rows["loss"].droplevel("run").reindex(["train", "validation"])
        cells = (f"{row['tpp']:g}", f"{row['tau']:.3g}", str(row["step"]))
        shown.add_row(str(run), *cells, *(f"{loss:.3f}" for loss in losses), row["status"])
    Console().print(shown)
