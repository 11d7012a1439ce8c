"""How a fit of the surrogate is shown: constants with intervals, errors on other sizes, and what to beware of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scaling_collapse.cli.notes import Notes, console

if TYPE_CHECKING:
    from rich.table import Table

    from scaling_collapse.surrogate.study import SurrogateStudy

FORMULA = (
    "l(t) = [((1+e1)/(t+e1))^m + b (eta(t)+e2)^q] / [the same at t = 1],  e1 = 0.001,"
    "\n       b = b_c tau^b_e TPP^b_tpp,  q = q_c TPP^q_e tau^q_tau"
)


def show_study(study: SurrogateStudy) -> None:
    """Print the fit: what was fitted, its constants, errors on other sizes, warnings, what was left out."""
    from rich.markup import escape

    screen, fit = console(), study.fit
    runs = f"{len(fit.runs)} run{'s' * (len(fit.runs) != 1)} of size {', '.join(study.sizes)}"
    spans = f"tau {_span(fit.tau_range)}, TPP {_span(fit.tpp_range)}"
    screen.print(escape(f"Surrogate of {runs}, {study.split} loss; {spans}"), style="bold", soft_wrap=True)
    screen.print(escape(f"Size: {study.choice}"), style="dim", soft_wrap=True)
    screen.print(escape(FORMULA), style="dim", soft_wrap=True)
    screen.print()
    screen.print(_constants(study))
    correlation = study.identifiability.log_correlation
    words = f"{round(correlation, 2) + 0:.2f}" if np.isfinite(correlation) else "none, as one hardly varies"
    screen.print(f"\nCorrelation of log tau and log TPP over these runs: {words}")
    screen.print(f"Mean error of the fit, t/T .2 to 1: {fit.mae_percent:.2f}% of the final loss")
    if study.held_out:
        screen.print("\nSizes that were not fitted: error of l, t/T .2 to 1 [% of the final loss]", style="bold")
        screen.print(_held_out(study))
    if study.warnings:
        screen.print("\nWarnings", style="bold yellow")
        for text in study.warnings:
            screen.print(f"  {escape(text)}", soft_wrap=True)
    Notes.of({run: (reason,) for run, reason in study.left_out}).show(screen, "Left out")


def _constants(study: SurrogateStudy) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("constant")
    for heading in ("value", "90% interval"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("verdict")
    table.add_column("why", overflow="fold", style="dim")
    for c in study.constants:
        ends = "-" if c.interval is None else f"{c.interval[0]:.3g} to {c.interval[1]:.3g}"
        table.add_row(
            c.name, f"{c.value:.4g}", ends, c.verdict, c.reason, style="dim" if c.verdict == "fixed" else None
        )
    return table


def _held_out(study: SurrogateStudy) -> Table:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("size")
    for heading in ("runs", "outside", "mean", "bias", "worst"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("worst run", overflow="fold")
    for error in study.held_out:
        numbers = (f"{error.mae_percent:.2f}", f"{error.bias_percent:+.2f}", f"{error.worst_percent:.2f}")
        counts = str(error.runs), str(error.outside or "-")
        table.add_row(escape(error.size), *counts, *numbers, escape(error.worst_run))
    if any(error.outside for error in study.held_out):
        table.caption, table.caption_justify = "outside: runs whose tau or TPP was not in the fit", "left"
    return table


def _span(ends: tuple[float, float]) -> str:
    low, high = (f"{end:.3g}" for end in ends)
    return low if low == high else f"{low} to {high}"
