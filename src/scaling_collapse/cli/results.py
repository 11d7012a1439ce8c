"""`collapse results`: the closing table of a study, its numbers and where its pictures are."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from scaling_collapse.config.figures import FigureEntry
    from scaling_collapse.paths import Paths

HEADLINE = "headline"
TABLES = (HEADLINE, "runs", "table_11", "table_12", "back_test")
COLLAPSED = "collapsed"
HEADINGS = (
    "sizes",
    "tokens/\nparam.",
    "time-\nscale tau",
    "spread\n%",
    "times\ncollapsed",
    "spread, %\nof range",
    "noise\nfloor %",
)


def results(
    scale: str = typer.Option("cpu", "--scale", help="Scale: smoke, cpu, paper, or a file."),
    target: str | None = typer.Option(None, "--target", help="Only this figure; default: every figure that is drawn."),
) -> None:
    """Show how far the families of the headline collapse, and where the pictures are."""
    from rich.console import Console

    from scaling_collapse.config.figures import load_figures
    from scaling_collapse.config.load import load_scale
    from scaling_collapse.paths import Paths

    loaded = load_scale(scale)
    paths, console = Paths(loaded.name), Console(highlight=False)
    drawn = _drawn(_chosen(load_figures(), target), paths)
    families = _families(paths)
    if not drawn and not families:
        _nothing_yet(paths, target)
    if families and target in (None, HEADLINE):
        _show_families(console, families)
    _show_pictures(console, drawn, paths)
    if not loaded.claims:
        console.print(f"Scale {loaded.name} is for tests: these numbers and pictures claim nothing.", style="yellow")


def _chosen(figures: tuple[FigureEntry, ...], target: str | None) -> list[FigureEntry]:
    """Raise ConfigError for a figure that is not in the list."""
    import difflib

    from scaling_collapse.errors import ConfigError

    names = [figure.name for figure in figures]
    if target is not None and target not in names:
        near = difflib.get_close_matches(target, names, n=1)
        fix = f"did you mean {near[0]}?" if near else f"use one of: {', '.join(names)}"
        raise ConfigError(f"--target {target}", "no figure of config/figures.yaml has that name.", fix)
    return [figure for figure in figures if target in (None, figure.name)]


def _drawn(figures: list[FigureEntry], paths: Paths) -> list[FigureEntry]:
    return [figure for figure in figures if paths.figure(figure.name, ".png").exists()]


def _families(paths: Paths) -> list[dict[str, str]]:
    """Rows of headline.csv; none where it is not computed yet."""
    path = paths.table(HEADLINE)
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _nothing_yet(paths: Paths, target: str | None) -> None:
    from scaling_collapse.errors import RunError

    command = f"snakemake {target or HEADLINE} --config scale={paths.scale}"
    raise RunError(str(paths.results), "no results there yet.", f"run `{command}`")


def _show_families(console: Console, families: list[dict[str, str]]) -> None:
    console.print(_families_table(families), end="\n\n")
    for row in families:
        if row.get("diverged_runs"):
            console.print(f"Left out of {row['family']}, since diverged: {row['diverged_runs']}", style="yellow")


def _families_table(families: list[dict[str, str]]) -> Table:
    """One row a family. Spread: standard deviation over sizes of loss over final loss, averaged over training."""
    from rich.table import Table

    title = "Spread of the normalised loss curves"
    table = Table(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 1, 0, 0))
    table.add_column("family", no_wrap=True)
    for heading in HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    collapsed = [float(row["spread_percent"] or "nan") for row in families if row["family"] == COLLAPSED]
    for row in families:
        spread = row["spread_percent"]
        table.add_row(
            row["family"].replace("_", " "),
            row["sizes"],
            _span(row["tpp_min"], row["tpp_max"]),
            _span(row["tau_min"], row["tau_max"]),
            _number(spread),
            f"{float(spread) / collapsed[0]:.1f}" if spread and collapsed else "-",
            _number(row["spread_of_range_percent"]),
            _number(row["noise_floor_percent"]),
            style="bold" if row["family"] == COLLAPSED else None,
        )
    return table


def _number(cell: str) -> str:
    """Three digits; a dash where the number is missing."""
    return f"{float(cell):.3g}" if cell else "-"


def _span(low: str, high: str) -> str:
    first, last = _number(low), _number(high)
    return first if first == last else f"{first}-{last}"


def _show_pictures(console: Console, figures: list[FigureEntry], paths: Paths) -> None:
    """Titles and files, one a line, so that a terminal makes them clickable."""
    if figures:
        width = max(len(figure.paper) for figure in figures)
        console.print(
            f"Pictures (.pdf, .png; .parquet is the data they show) in {paths.results}/figures:", style="bold"
        )
        for figure in figures:
            console.print(f"  {figure.paper:<{width}}  {paths.figure(figure.name, '.png')}", soft_wrap=True)
    tables = [path for path in map(paths.table, TABLES) if Path(path).exists()]
    if tables:
        console.print(f"Tables: {', '.join(map(str, tables))}", soft_wrap=True)
