"""`collapse figure`: draw one figure from the curves of a scale."""

from __future__ import annotations

import typer


def figure(
    name: str = typer.Argument("", help="Figure, e.g. fig_06_celerity_collapse; --list shows all."),
    scale: str = typer.Option("cpu", "--scale", help="Scale: smoke, cpu, paper, or a file."),
    key: str = typer.Option("", "--key", help="Identity of the stage that draws it, written into the pictures."),
    show_list: bool = typer.Option(False, "--list", help="List all figures and what they read."),
) -> None:
    """Draw one figure and write results/<scale>/figures/<name>.pdf, .png and .parquet (the data it shows)."""
    from scaling_collapse.errors import FigureError

    if show_list:
        _list()
        return
    if not name:
        raise FigureError("collapse figure", "no figure was named.", "collapse figure --list shows the names")

    from scaling_collapse.figures.render import render

    for path in render(name, scale, key=key):
        typer.echo(path)


def _list() -> None:
    """Print one row a figure: its name, what it reproduces, the run groups and tables that it reads."""
    from rich.console import Console
    from rich.table import Table

    from scaling_collapse.config.figures import load_figures

    shown = Table(title="config/figures.yaml", title_justify="left")
    shown.add_column("name", no_wrap=True)
    shown.add_column("paper")
    shown.add_column("reads", overflow="fold")
    for entry in load_figures():
        reads = [*entry.groups, *(["all runs"] if entry.all_runs else []), *entry.published, *entry.tables]
        shown.add_row(entry.name, entry.paper, ", ".join(reads) or "formulas only")
    Console().print(shown)
