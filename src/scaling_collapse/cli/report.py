"""`collapse report`: one HTML file on a family of runs or on a single one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from scaling_collapse.logs.given import Given

CURVES = typer.Argument(help="Tidy table of curves (.csv, .parquet), or logs that `collapse import` reads.")
OUTPUT = typer.Option(Path("report.html"), "-o", "--output", help="Where to write it.")
RUN = typer.Option([], "--run", help="Only this run, or runs like '*-1xC'; repeat for several.")
SPLIT = typer.Option(None, "--split", help="Which losses; default: train, or the only ones there are.")
REFERENCE = typer.Option(
    None, "--reference", help="Finished run of the table, or file with finished runs. Default: the other runs."
)
COMPLETE = typer.Option(False, "--complete", help="Where tokens are not known: every run was logged to its end.")
LOSS = typer.Option(None, "--loss", help="Of logs: column (key, tag) of the training loss.")
VALIDATION = typer.Option(None, "--validation", help="Of logs: column of the validation loss.")
STEP = typer.Option(None, "--step", help="Of logs: column of the steps; row: count the records instead.")
FORMAT = typer.Option(None, "--format", help="Of logs: their format. Default: recognised from content.")

SUFFIXES = (".html", ".htm")


def report(
    curves: list[Path] = CURVES,
    output: Path = OUTPUT,
    run: list[str] = RUN,
    split: str | None = SPLIT,
    reference: str | None = REFERENCE,
    complete: bool = COMPLETE,
    loss: str | None = LOSS,
    validation: str | None = VALIDATION,
    step: str | None = STEP,
    log_format: str | None = FORMAT,
) -> None:
    """Write one HTML file, with everything inside: do the runs collapse, alarms, predictions, what cannot be said.

    Exit code: 0 quiet, 1 an alarm or no collapse, 2 bad input.
    """
    from scaling_collapse.cli.predicting import chosen_runs
    from scaling_collapse.logs.given import read_given
    from scaling_collapse.logs.options import Options
    from scaling_collapse.report.assemble import page_of
    from scaling_collapse.report.material import gather
    from scaling_collapse.report.page import to_html

    _check_output(output, curves)
    given = read_given(curves, Options(format=log_format, loss=loss, validation=validation, step=step))
    for line in given.said:
        typer.secho(line, err=True, dim=True)
    runs = chosen_runs(given.frame, run) if run else []
    against = None if reference is None else _reference(reference, given)
    material = gather(given, _source(curves), runs, split, against, complete)
    page = page_of(material)
    _write(output, to_html(page))
    typer.secho(page.headline, bold=True, fg={"good": "green", "bad": "red"}.get(page.tone, "yellow"))
    for sentence in page.sentences:
        typer.echo(f"  {sentence}")
    typer.echo(f"report: {output}")
    if not material.quiet:
        raise typer.Exit(1)


def _source(paths: Sequence[Path]) -> str:
    """Return what the report calls its input: names of files, without the folders of somebody's machine."""
    from scaling_collapse.report.words import names

    return names([path.name for path in paths])


def _reference(words: str, given: Given) -> str | pd.DataFrame:
    """Return the run of the table, or the table of the file, that `words` name; a run comes first.

    Raises CurveError, with the nearest name, where there is neither.
    """
    from scaling_collapse.curves.table import choose_runs
    from scaling_collapse.errors import CurveError
    from scaling_collapse.logs.given import read_given

    if words in set(given.frame["run"]):
        return words
    if Path(words).exists():
        return read_given([Path(words)]).frame
    try:
        choose_runs(given.frame, [words])
    except CurveError as error:
        raise CurveError(f"--reference {words}", "there is neither such a run nor such a file", error.fix) from None
    return words


def _check_output(output: Path, inputs: Sequence[Path]) -> None:
    """Raise FigureError before anything is read if the report cannot be written where it should."""
    from scaling_collapse.errors import FigureError

    if output.suffix not in SUFFIXES:
        raise FigureError(str(output), f"a report is a .html file, not {output.suffix or 'without suffix'}.")
    if output.resolve() in {path.resolve() for path in inputs}:
        raise FigureError(str(output), "this is one of the inputs, which it would overwrite.", "choose another name")


def _write(output: Path, text: str) -> None:
    """Write the report beside its place first, then move it there whole."""
    from scaling_collapse.errors import FigureError
    from scaling_collapse.whole_file import appearing

    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with appearing(output) as partial:
            partial.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        problem = f"the report could not be written: {error.strerror}."
        raise FigureError(str(output), problem, "choose another place") from error
