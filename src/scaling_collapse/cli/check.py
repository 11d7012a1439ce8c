"""`collapse check`: do these runs collapse?"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from scaling_collapse.diagnose.family_check import FamilyCheck

CURVES = typer.Argument(help="Table of curves, CSV or parquet (`collapse import` makes one of logs).")
RUNS = typer.Option([], "--run", help="Only this run; repeat for several. Default: all runs of the table.")
SPLIT = typer.Option(None, "--split", help="train, validation or another split. Default: train, else the only one.")
COMPLETE = typer.Option(False, "--complete", help="Take runs whose number of tokens is not known as finished.")
AS_JSON = typer.Option(False, "--json", help="One JSON object.")


def check(
    curves: Path = CURVES,
    run: list[str] = RUNS,
    split: str | None = SPLIT,
    complete: bool = COMPLETE,
    as_json: bool = AS_JSON,
) -> None:
    """Measure how far the normalised curves of some runs lie apart, and say which run or setting does not fit.

    Exit code: 0 they collapse, 1 they do not, 2 bad input.
    """
    from scaling_collapse.curves.curve import curves_of
    from scaling_collapse.curves.table import choose_runs, read_curves
    from scaling_collapse.diagnose.family_check import check_family
    from scaling_collapse.predict.table import split_of

    table = read_curves(curves)
    if run:
        table = choose_runs(table, run)
    found = check_family(curves_of(table, split_of(table, split), complete))
    if as_json:
        sys.stdout.write(json.dumps(found.as_json(), indent=1) + "\n")
    else:
        _show(found)
    if not found.collapses:
        raise typer.Exit(1)


def _show(found: FamilyCheck) -> None:
    verdict = "collapse" if found.collapses else "do not collapse"
    typer.secho(f"{len(found.runs)} runs {verdict}", bold=True, fg="green" if found.collapses else "red")
    typer.echo(
        f"  spread             {found.spread_percent:.3g}% of the final loss (collapse: up to {found.limit_percent:.3g}%)"
    )
    typer.echo(f"  of dynamic range   {found.spread_of_range_percent:.3g}%")
    floor = found.noise_floor_percent
    typer.echo(
        f"  noise floor        {f'{floor:.3g}% ({found.floor_source})' if math.isfinite(floor) else 'not known'}"
    )
    if math.isfinite(found.irreducible_nats):
        typer.echo(
            f"  with offset L0     {found.spread_irreducible_percent:.3g}% (L0 = {found.irreducible_nats:.3g} nats; above: offset 0)"
        )
    for heading, lines in (
        ("does not fit", found.outliers),
        ("does not match", found.mismatches),
        ("left out", found.left_out),
    ):
        for line in lines:
            typer.echo(f"  {heading:<18} {line}")
