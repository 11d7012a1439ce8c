"""`collapse check`: do these runs collapse?"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaling_collapse.curves.curve import Curve
    from scaling_collapse.diagnose.family_check import FamilyCheck

CURVES = typer.Argument(help="Tidy tables of curves (.csv, .parquet), or logs that `collapse import` reads.")
RUNS = typer.Option([], "--run", help="Only this run, or runs like '*-1xC'; repeat for several.")
SPLIT = typer.Option(None, "--split", help="Which losses; default: train, or the only ones there are.")
LOSS = typer.Option(None, "--loss", help="Of logs: column (key, tag) of the training loss.")
STEP = typer.Option(None, "--step", help="Of logs: column of the steps; row: count the records instead.")
FORMAT = typer.Option(None, "--format", help="Of logs: their format. Default: recognised from content.")
AS_JSON = typer.Option(False, "--json", help="Print JSON instead of words.")


def check(
    curves: list[Path] = CURVES,
    run: list[str] = RUNS,
    split: str | None = SPLIT,
    loss: str | None = LOSS,
    step: str | None = STEP,
    log_format: str | None = FORMAT,
    as_json: bool = AS_JSON,
) -> None:
    """Say whether runs collapse: how far their normalised curves lie apart, and which run or setting does not fit.

    Exit code: 0 they collapse, 1 they do not, 2 bad input.
    """
    from scaling_collapse.cli.predicting import chosen_runs
    from scaling_collapse.curves.curve import curves_of
    from scaling_collapse.curves.table import choose_runs
    from scaling_collapse.diagnose.family_check import check_family
    from scaling_collapse.logs.given import assumed_finished, read_given
    from scaling_collapse.logs.options import Options
    from scaling_collapse.predict.table import split_of

    files = read_given(curves, Options(format=log_format, loss=loss, step=step))
    table = choose_runs(files.frame, chosen_runs(files.frame, run))
    chosen = split_of(table, split)
    compared = list(curves_of(table, chosen, complete=True))
    for line in (*files.said, *assumed_finished(table[table["split"] == chosen])):
        typer.secho(line, err=True, dim=True)
    found = check_family(compared)
    if as_json:
        for name in found.left_out:
            typer.secho(f"left out, since not finished or diverged: {name}", err=True)
        sys.stdout.write(json.dumps(found.as_json(), indent=1) + "\n")
    else:
        _show(found, chosen, _not_known(compared))
    if not found.collapses:
        raise typer.Exit(1)


def _not_known(curves: Sequence[Curve]) -> str:
    """Return which settings no run tells, so that they cannot be compared."""
    kinds = {
        "tokens per parameter": any(math.isfinite(curve.tpp) for curve in curves),
        "tau": any(math.isfinite(curve.tau) for curve in curves),
        "schedules": any(curve.facts.get("schedule") for curve in curves),
    }
    return ", ".join(kind for kind, known in kinds.items() if not known)


def _show(found: FamilyCheck, split: str, not_known: str) -> None:
    verdict = "collapse" if found.collapses else "do not collapse"
    typer.secho(f"{len(found.runs)} runs {verdict} ({split})", bold=True, fg="green" if found.collapses else "red")
    limit = f"runs that collapse: up to {found.limit_percent:.2f}%"
    _line("spread", f"{found.spread_percent:.2f}% of the final loss, over the last 80% of training ({limit})")
    share = found.spread_of_range_percent
    _line("of dynamic range", f"{share:.2f}%" if math.isfinite(share) else "none: on average the loss does not fall")
    floor, source = found.noise_floor_percent, found.floor_source
    _line("noise floor", f"{floor:.2f}% (from {source})" if math.isfinite(floor) else "not known")
    offset = found.irreducible_nats
    with_offset = f"{found.spread_irreducible_percent:.2f}% with L0 = {offset:.3g} nats taken off (above: nothing)"
    _line("irreducible loss", with_offset if math.isfinite(offset) else "not known, and not to be told from these runs")
    for heading, lines in (
        ("outlier", found.outliers),
        ("does not match", found.mismatches),
        ("left out", [f"{run}: not finished, or diverged" for run in found.left_out]),
        ("not compared", [f"{not_known}: not known"] if not_known else []),
    ):
        for line in lines:
            _line(heading, line, "yellow")


def _line(heading: str, words: str, colour: str | None = None) -> None:
    typer.secho(f"  {heading:<18}{words}", fg=colour)
