"""`collapse import`: read training logs of other tools into the project's table of curves."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from scaling_collapse.logs.curves import LogCurve
    from scaling_collapse.logs.read import Imported

FILES = typer.Argument(help="Log files (gzip too): see the docs, import, for formats.")
OUTPUT = typer.Option(None, "-o", "--output", help="Where to write the curves: .parquet or .csv. Default: only show.")
FORMAT = typer.Option(None, "--format", help="Format of the files. Default: recognised from content.")
LOSS = typer.Option(None, "--loss", help="Column (key, tag) of the training loss.")
VALIDATION = typer.Option(None, "--validation", help="Column of the validation loss.")
ALL_LOSSES = typer.Option(False, "--all-losses", help="Keep other loss columns too, each as a split of its name.")
STEP = typer.Option(None, "--step", help="Column of the steps; row: count the records instead.")
RUN = typer.Option(None, "--run", help="Name of the one run that all files are parts of.")
RUN_COLUMN = typer.Option(None, "--run-column", help="Column of the names of runs.")
TOKENS = typer.Option(None, "--tokens-per-step", min=0.0, help="Batch in tokens; tokens = step times this.")
FACT = typer.Option([], "--fact", help="COLUMN=VALUE for all runs, e.g. tokens_total=2.5e9; repeat for several.")
AS_JSON = typer.Option(False, "--json", help="One JSON object with runs, guesses and notes.")

#: More curves than this are not listed one by one.
MANY_CURVES = 40


def import_logs(
    files: list[Path] = FILES,
    output: Path | None = OUTPUT,
    log_format: str | None = FORMAT,
    loss: str | None = LOSS,
    validation: str | None = VALIDATION,
    all_losses: bool = ALL_LOSSES,
    step: str | None = STEP,
    run: str | None = RUN,
    run_column: str | None = RUN_COLUMN,
    tokens_per_step: float | None = TOKENS,
    fact: list[str] = FACT,
    as_json: bool = AS_JSON,
) -> None:
    """Read training logs of other tools; say what was guessed, and what was dropped or repaired."""
    from scaling_collapse.logs.options import Options, parse_facts
    from scaling_collapse.logs.read import read_logs
    from scaling_collapse.logs.tidy import write

    options = Options(
        format=log_format,
        loss=loss,
        validation=validation,
        step=step,
        run=run,
        run_column=run_column,
        tokens_per_step=tokens_per_step,
        all_losses=all_losses,
        facts=parse_facts(fact),
    )
    if output is not None:
        _check_output(files, output)
    found = read_logs(files, options)
    if output is not None:
        write(found.curves, output)
    if as_json:
        sys.stdout.write(json.dumps(_summary(found, output), indent=1) + "\n")
    else:
        _show(found, output)


def _check_output(files: list[Path], output: Path) -> None:
    """Raise LogError before anything is read if the table cannot be written where it should."""
    from scaling_collapse.errors import LogError

    if output.suffix not in (".parquet", ".csv"):
        raise LogError(str(output), "curves are written as .parquet or .csv.")
    if output.resolve() in {file.resolve() for file in files}:
        raise LogError(str(output), "this is one of the logs; the table would overwrite it.", "choose another name")


def _row(curve: LogCurve) -> dict[str, Any]:
    tokens = float(curve.tokens[-1])
    return {
        "run": curve.run,
        "split": curve.split,
        "points": len(curve.step),
        "first_step": int(curve.step[0]),
        "last_step": int(curve.step[-1]),
        "first_loss": float(curve.loss[0]),
        "last_loss": float(curve.loss[-1]),
        "last_tokens": tokens if math.isfinite(tokens) else None,
    }


def _summary(found: Imported, output: Path | None) -> dict[str, Any]:
    return {
        "output": None if output is None else str(output),
        "curves": [_row(curve) for curve in found.curves],
        "guesses": [vars(guess) for guess in found.guesses],
        "notes": [vars(note) for note in found.notes],
    }


def _show(found: Imported, output: Path | None) -> None:
    """Print a row for each curve; then for each file what was guessed, and what was left out or repaired."""
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    console.print(_table(found.curves, output))
    if len(found.curves) > MANY_CURVES:
        console.print(f"and {len(found.curves) - MANY_CURVES} more curves")
    options = dict.fromkeys(guess.option for guess in found.guesses)
    for file in dict.fromkeys([guess.where for guess in found.guesses]):
        guesses = "; ".join(f"{g.what}: {g.value}" for g in found.guesses if g.where == file)
        console.print(file, style="bold", soft_wrap=True)
        console.print(f"  guessed {guesses}", soft_wrap=True)
        for note in found.notes:
            if note.where == file:
                console.print(f"  {note.line}", style="yellow" if note.lost else None, soft_wrap=True)
    if options:
        console.print(f"Guesses are set by {', '.join(options)}.")


def _table(curves: tuple[LogCurve, ...], output: Path | None) -> Table:
    from rich.table import Table
    from rich.text import Text

    runs = len({curve.run for curve in curves})
    points = sum(len(curve.step) for curve in curves)
    target = "not written (-o curves.parquet does)" if output is None else str(output)
    title = f"{target}: {runs} run{'' if runs == 1 else 's'}, {points:,} losses"
    table = Table(title=Text(title), title_justify="left", box=None, padding=(0, 2, 0, 0))
    table.add_column("run", overflow="fold")
    table.add_column("split", overflow="fold")
    for heading in ("points", "steps", "first loss", "last loss", "tokens"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in map(_row, curves[:MANY_CURVES]):
        tokens = "-" if row["last_tokens"] is None else f"{row['last_tokens']:.4g}"
        steps = f"{row['first_step']}-{row['last_step']}"
        losses = f"{row['first_loss']:.5g}", f"{row['last_loss']:.5g}"
        table.add_row(Text(row["run"]), Text(row["split"]), f"{row['points']:,}", steps, *losses, tokens)
    return table
