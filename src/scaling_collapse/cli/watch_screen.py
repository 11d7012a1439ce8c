"""What a watch shows: a live view in a terminal, else one line for each alarm and a status line every so often."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
import typer

from scaling_collapse.cli.watch_run import WatchedRun, alarm_line, counts, printable
from scaling_collapse.live.words import alarm_words, final_loss_words

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

    from scaling_collapse.cli.watch_log import LogWatch, News

#: Runs that are shown: those that wrote last.
SHOWN_RUNS = 5


HEADINGS = ("run", "step", "loss", "validation", "final loss", "alarms")


class Screen(Protocol):
    """Where a watch shows what it sees."""

    def __enter__(self) -> Self:
        """Begin."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End, whatever happened."""

    def alarm(self, news: News) -> None:
        """Tell an alarm."""

    def say(self, line: str) -> None:
        """Tell something else, which is no result."""

    def status(self, watch: LogWatch, now: bool = False) -> None:
        """Show how things stand; `now` whether or not it is time again."""


class Lines:
    """Plain lines with the time of day, on standard output, or `to_errors`; a status line every `every` seconds."""

    def __init__(self, every: float, to_errors: bool) -> None:
        self._every, self._to_errors = every, to_errors
        self._next = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def alarm(self, news: News) -> None:
        """Print its line."""
        typer.secho(f"{_clock()} {alarm_line(news.alarm)}", err=self._to_errors, fg=colour(news), bold=news.new)

    def say(self, line: str) -> None:
        """Print the line on standard error."""
        typer.secho(line, err=True, dim=True)

    def status(self, watch: LogWatch, now: bool = False) -> None:
        """Print a line for each run that wrote last, if it is time."""
        if not (now or (time.monotonic() >= self._next and watch.runs)):
            return
        self._next = time.monotonic() + self._every
        for name, run in shown(watch.runs):
            typer.echo(f"{_clock()} {status_line(name, run)}", err=self._to_errors)
        sys.stdout.flush()


class View:
    """A table that stays at the foot of the terminal, drawn anew at each look; alarms scroll by above it."""

    def __init__(self, title: str) -> None:
        from rich.console import Console
        from rich.live import Live

        self._title = printable(title)
        self._console = Console(highlight=False, markup=False)
        self._live: Live = Live(f"waiting for {self._title}", console=self._console, auto_refresh=False)

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.__exit__(kind, error, trace)

    def alarm(self, news: News) -> None:
        """Print its line above the table."""
        self._console.print(f"{_clock()} {alarm_line(news.alarm)}", style=colour(news), soft_wrap=True)

    def say(self, line: str) -> None:
        """Print the line above the table."""
        self._console.print(line, style="dim", soft_wrap=True)

    def status(self, watch: LogWatch, now: bool = False) -> None:
        """Draw the table."""
        self._live.update(status_table(self._title, watch), refresh=True)


def status_line(name: str, run: WatchedRun) -> str:
    """Return how a run stands, in one line."""
    step, *losses = cells(run)
    parts = [f"{printable(name)}: {step}", *(cell for cell in losses if cell != "-")]
    return "  ".join([*parts, f"({run.losses:,} losses)"])


def status_table(title: str, watch: LogWatch) -> Table:
    """Return how the last runs stand."""
    from rich.table import Table
    from rich.text import Text

    title = f"{title}: {watch.losses:,} losses"
    table = Table(title=Text(title), title_justify="left", box=None, padding=(0, 2, 0, 0))
    rows, styles = [], []
    for name, run in shown(watch.runs):
        step, loss, held_out, final, alarms = cells(run)
        bare = [cell.partition(" ")[2] or cell for cell in (loss, held_out, final)]
        rows.append((printable(name), step, *bare, alarms))
        styles.append("red" if any(counts(alarm) and not alarm.recovered for alarm in run.alarms) else None)
    used = [column for column in range(len(HEADINGS)) if any(row[column] != "-" for row in rows)]
    for column in used:
        table.add_column(HEADINGS[column])
    for row, style in zip(rows, styles, strict=True):
        table.add_row(*(Text(row[column]) for column in used), style=style)
    return table


def cells(run: WatchedRun) -> tuple[str, str, str, str, str]:
    """Return a run's step, last loss, last validation loss, predicted final loss and alarms in words; "-" for none."""
    step = max((step for step, _ in run.last.values()), default=0)
    total = run.watch.monitor.total_steps
    progress = f"step {step:,.0f}" + (f" ({step / total:.0%})" if total else "")
    loss, held_out = (
        f"{word} {run.last[split][1]:.4f}" if split in run.last else "-"
        for word, split in (("loss", run.main), ("validation", run.held_out))
    )
    with np.errstate(all="ignore"):  # absurd losses give absurd numbers on the way, and no lines between ours
        final = final_loss_words(run.watch.prediction()) if run.watch.template is not None else "-"
    return progress, loss, held_out, final, printable(_alarms(run))


def _alarms(run: WatchedRun) -> str:
    of_training = [alarm for alarm in run.alarms if counts(alarm)]
    notes = len(run.alarms) - len(of_training)
    return alarm_words(of_training) + (f", {notes} note{'' if notes == 1 else 's'} on the log" if notes else "")


def shown(runs: dict[str, WatchedRun]) -> Sequence[tuple[str, WatchedRun]]:
    """Return the last runs by name."""
    return list(runs.items())[-SHOWN_RUNS:]


def colour(news: News) -> str:
    """Return the colour of an alarm's line."""
    if not counts(news.alarm):
        return "cyan"
    return "yellow" if news.alarm.recovered else "red"


def _clock() -> str:
    return f"{datetime.now():%H:%M:%S}"
