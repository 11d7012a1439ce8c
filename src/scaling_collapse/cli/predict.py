"""`collapse predict`: the final losses of runs in progress, or of finished runs as if only a part were known."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from scaling_collapse.cli import predicting
from scaling_collapse.cli.notes import Notes, console
from scaling_collapse.cli.predicting import Asked, Found, find_predictions

if TYPE_CHECKING:
    from rich.table import Table

    from scaling_collapse.predict.prediction import Prediction

#: Reasons are shown for so many runs; more need --why.
FEW_RUNS = 6


def predict(
    curves: Path = predicting.CURVES,
    template: str = predicting.TEMPLATE,
    at: float | None = predicting.AT,
    method: str = predicting.METHOD,
    siblings: str = predicting.SIBLINGS,
    run: list[str] = predicting.RUN,
    split: str | None = predicting.SPLIT,
    surrogate: Path | None = predicting.CONSTANTS,
    complete: bool = predicting.COMPLETE,
    max_width: float | None = typer.Option(None, help="Warn of an interval wider than this: +- percent."),
    why: bool = typer.Option(False, "--why", help="Say for every run why its method was chosen."),
    picture: Path | None = predicting.PICTURE,
    as_json: bool = predicting.JSON,
) -> None:
    """Predict the final loss of each run, with a 90% interval, from the part of its curve that is there."""
    asked = Asked(curves, template, at, method, siblings, run, split, surrogate, complete, max_width)
    found = find_predictions(asked)
    if picture is not None:
        from scaling_collapse.cli.prediction_picture import draw_predictions

        draw_predictions(found, picture)
    if as_json:
        sys.stdout.write(json.dumps([prediction.as_json() for prediction in found.predictions], indent=1) + "\n")
        return
    _show(found, why)
    if picture is not None:
        typer.echo(f"picture: {picture}")


def _show(found: Found, why: bool) -> None:
    from rich.markup import escape

    screen, notes = console(), Notes.of({p.run: p.warnings for p in found.predictions}, len(found.predictions))
    screen.print(escape(f"Final losses [nats], {found.split}, by {found.template}"), style="bold", soft_wrap=True)
    screen.print(_table(found, notes))
    told = [p for p in found.predictions if p.predicted_final_loss is not None]
    if told and (why or len(found.predictions) <= FEW_RUNS):
        screen.print("\nWhy this method", style="bold")
        for p in told:
            screen.print(f"  {escape(p.run)}: {escape(p.reason)}", style="dim", soft_wrap=True)
    notes.show(screen)
    errors = [abs(p.error_percent) for p in told if p.true_final_loss is not None and p.progress < 1]
    if errors:
        mean, inside = sum(errors) / len(errors), sum(_covers(p) for p in told)
        share = f"{inside} of {len(errors)} true losses lie in their intervals"
        screen.print(f"\nMean error {mean:.2f}%, largest {max(errors):.2f}%; {share}.", style="bold")


def _table(found: Found, notes: Notes) -> Table:
    from rich.markup import escape
    from rich.table import Table

    back_test = any(p.true_final_loss is not None for p in found.predictions)
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("run", overflow="fold")
    for heading in ("known", "predicted", "90% interval", "+-%", *(("true", "error %") if back_test else ())):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("method", no_wrap=True)
    if notes:
        table.add_column("warnings", no_wrap=True, style="yellow")
    for p in found.predictions:
        cells = [escape(p.run), f"{p.progress:.0%}", *_value(p)]
        if back_test:
            cells += ["-", "-"] if p.true_final_loss is None else [f"{p.true_final_loss:.3f}", _error(p)]
        cells += [p.method, notes.letters(p.run)] if notes else [p.method]
        table.add_row(*cells, style="yellow" if p.predicted_final_loss is None else None)
    return table


def _error(p: Prediction) -> str:
    return "-" if p.predicted_final_loss is None else f"{p.error_percent:+.2f}"


def _value(p: Prediction) -> tuple[str, str, str]:
    """Return the value, its interval and half of the interval's width in percent."""
    if p.predicted_final_loss is None or p.low is None or p.high is None:
        return "-", "-", "-"
    return f"{p.predicted_final_loss:.3f}", f"{p.low:.3f} - {p.high:.3f}", f"{p.half_width_percent:.2f}"


def _covers(p: Prediction) -> bool:
    known = p.low is not None and p.high is not None and p.true_final_loss is not None
    return known and p.low <= p.true_final_loss <= p.high  # type: ignore[operator]
