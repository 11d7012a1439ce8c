"""`collapse advise`: which runs of a sweep in progress can stop now, and what that may cost."""

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
    from rich.console import Console
    from rich.table import Table

    from scaling_collapse.curves.curve import Curve
    from scaling_collapse.predict.advise import Advice, RunAdvice

SWEEP = typer.Argument(help="Tidy table of the sweep's curves, .csv or .parquet (columns: docs, curves).")
RANKING = typer.Option("early_align_least_squares", "--method", help="auto, or a single method (docs, predict).")
LEAST = typer.Option(0.05, "--least-chance", help="Stop a run whose chance to end below the best is less than this.")

#: Runs of a sweep are of one size and budget up to this, as batches round the tokens.
SAME_BUDGET = 0.01
UNEQUAL = "runs differ in parameters or tokens, so some end lower by size or budget alone: advise on each by itself"


def advise(
    sweep: Path = SWEEP,
    template: str = predicting.TEMPLATE,
    at: float | None = predicting.AT,
    least_chance: float = LEAST,
    method: str = RANKING,
    siblings: str = predicting.SIBLINGS,
    run: list[str] = predicting.RUN,
    split: str | None = predicting.SPLIT,
    surrogate: Path | None = predicting.CONSTANTS,
    complete: bool = predicting.COMPLETE,
    picture: Path | None = predicting.PICTURE,
    as_json: bool = predicting.JSON,
) -> None:
    """Say which runs of a sweep can stop now: their chance to win, the regret to expect, the FLOPs that it saves.

    A template that is itself a run of the sweep is judged too, as finished.
    """
    asked = Asked(sweep, template, at, method, siblings, run, split, surrogate, complete)
    found, advice = _advice(asked, least_chance)
    if picture is not None:
        from scaling_collapse.cli.prediction_picture import draw_advice

        draw_advice(found, advice, picture)
    if as_json:
        sys.stdout.write(json.dumps(advice.as_json(), indent=1) + "\n")
        return
    _show(found, advice)
    if picture is not None:
        typer.echo(f"picture: {picture}")


def _advice(asked: Asked, least_chance: float) -> tuple[Found, Advice]:
    from dataclasses import replace

    from scaling_collapse.predict.advise import advice_of, training_flops
    from scaling_collapse.predict.predict import predict_run

    found = find_predictions(asked)
    own = found.curves.get(asked.template)
    judged = [found.curves[p.run] for p in found.predictions]
    if own is not None and any(_compete(own, curve) for curve in judged):
        found = replace(found, predictions=[*found.predictions, predict_run(own, found.templates[own.run])])
        judged.append(own)
    advice = advice_of(found.predictions, [training_flops(curve) for curve in judged], least_chance)
    if not all(_compete(judged[0], curve) for curve in judged[1:]):
        advice = replace(advice, warnings=(*advice.warnings, UNEQUAL))
    return found, advice


def _compete(first: Curve, second: Curve) -> bool:
    """Return whether two runs are of one size and budget, as far as the table says, up to rounding."""
    pairs = [(float(first.facts[name]), float(second.facts[name])) for name in ("size_params", "tokens_total")]
    return all(not abs(a - b) > SAME_BUDGET * abs(b) for a, b in pairs)


def _show(found: Found, advice: Advice) -> None:
    from rich.markup import escape

    screen = console()
    notes = Notes.of({p.run: p.warnings for p in found.predictions}, len(found.predictions))
    screen.print(escape(f"Sweep of {len(advice.runs)} runs, {found.split}, by {found.template}"), style="bold")
    screen.print(_table(advice, notes))
    notes.show(screen)
    for text in advice.warnings:
        screen.print(escape(text), style="yellow", soft_wrap=True)
    screen.print(f"\nPredicted best: {escape(advice.best)}", style="bold", soft_wrap=True)
    if not advice.stop:
        screen.print("No run can stop yet.")
    else:
        screen.print(f"Stop now: {escape(', '.join(advice.stop))}", soft_wrap=True)
        regret = max(advice.expected_regret_percent, 1e-3)
        screen.print(f"Expected regret: less than {regret:.1g}% of the final loss")
        if advice.flops_saved == advice.flops_saved:  # not NaN
            share = advice.flops_saved / advice.flops_left if advice.flops_left else 0.0
            screen.print(f"Saves {advice.flops_saved:.3g} of the {advice.flops_left:.3g} FLOPs left ({share:.0%})")
    _show_truth(screen, advice)


def _show_truth(screen: Console, advice: Advice) -> None:
    """Say, in a back-test, what the advice would have cost."""
    from rich.markup import escape

    true = {a.prediction.run: a.prediction.true_final_loss for a in advice.runs}
    known = {run: loss for run, loss in true.items() if loss is not None}
    if len(known) < len(true) or all(a.prediction.progress >= 1 for a in advice.runs):
        return
    best = min(known, key=known.__getitem__)
    kept = min((run for run in known if run not in advice.stop), key=known.__getitem__)

    def cost(run: str) -> str:
        return "is that run" if run == best else f"ends {100 * (known[run] / known[best] - 1):.2f}% above it"

    text = f"In truth {best} ends best, at {known[best]:.3f} nats; the predicted best {cost(advice.best)}"
    if advice.stop:
        text += f", the best that goes on {cost(kept)}"
    screen.print(f"\n{escape(text)}.", style="bold", soft_wrap=True)


def _table(advice: Advice, notes: Notes) -> Table:
    from rich.markup import escape
    from rich.table import Table

    back_test = any(a.prediction.true_final_loss is not None for a in advice.runs)
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("run", overflow="fold")
    for heading in ("known", "predicted", "+-%", *(("true",) if back_test else ()), "chance", "FLOPs left"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("advice", no_wrap=True)
    if notes:
        table.add_column("warnings", no_wrap=True, style="yellow")
    for a in sorted(advice.runs, key=lambda a: a.prediction.predicted_final_loss or float("inf")):
        p = a.prediction
        value = ("-", "-")
        if p.predicted_final_loss is not None:
            value = f"{p.predicted_final_loss:.3f}", f"{p.half_width_percent:.2f}"
        true = [] if not back_test else ["-" if p.true_final_loss is None else f"{p.true_final_loss:.3f}"]
        chance = "-" if a.chance != a.chance or p.run == advice.best else f"{a.chance:.1%}"
        flops = "-" if a.flops_left != a.flops_left else f"{a.flops_left:.2e}"
        word, style = _word(a, advice.best)
        cells = [escape(p.run), f"{p.progress:.0%}", *value, *true, chance, flops, word]
        table.add_row(*cells, *([notes.letters(p.run)] if notes else []), style=style)
    return table


def _word(advice: RunAdvice, best: str) -> tuple[str, str | None]:
    """Return the advice in a word, and how it is printed."""
    if advice.prediction.run == best:
        return "best", "bold green"
    if advice.stop:
        return "stop", "dim"
    if advice.prediction.predicted_final_loss is None:
        return "go on: no prediction", "yellow"
    return ("finished" if advice.prediction.progress >= 1 else "go on"), None
