"""`collapse watch`: an alarm on a training log, while it grows or when it is finished."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from scaling_collapse.cli.watching import Watcher
    from scaling_collapse.diagnose.alarm import Alarm
    from scaling_collapse.diagnose.reference import Reference
    from scaling_collapse.logs.options import Options

LOG = typer.Argument(help="Log file of any format that `collapse import` reads.")
REFERENCE = typer.Option(None, "--reference", help="Table of curves with a finished run to compare with.")
REFERENCE_RUN = typer.Option(
    None, "--reference-run", help="Which run of that table. Default: its smallest finished one."
)
STEPS = typer.Option(None, "--total-steps", min=1.0, help="Length of the run in steps; a reference needs it.")
ONCE = typer.Option(False, "--once", help="The log is finished: judge it and end.")
COMMAND = typer.Option(None, "--on-alarm", help="Shell command for each new alarm; it gets the alarm as JSON on stdin.")
RATE = typer.Option(0.01, "--rate", help="Probability of a false alarm in a healthy run.")
LOSS = typer.Option(None, "--loss", help="Column (key, tag) of the training loss.")
VALIDATION = typer.Option(None, "--validation", help="Column of the validation loss.")
STEP = typer.Option(None, "--step", help="Column of the steps.")
FORMAT = typer.Option(None, "--format", help="Format of the log. Default: recognised from content.")
SECONDS = typer.Option(1.0, "--every", min=0.05, help="Seconds between looks at the file.")
AS_JSON = typer.Option(False, "--json", help="At the end, one JSON object with all alarms.")


def watch(
    log: Path = LOG,
    reference: Path | None = REFERENCE,
    reference_run: str | None = REFERENCE_RUN,
    total_steps: float | None = STEPS,
    once: bool = ONCE,
    on_alarm: str | None = COMMAND,
    rate: float = RATE,
    loss: str | None = LOSS,
    validation: str | None = VALIDATION,
    step: str | None = STEP,
    log_format: str | None = FORMAT,
    every: float = SECONDS,
    as_json: bool = AS_JSON,
) -> None:
    """Follow a log, through rotation and restarts, and tell spikes, drifts, divergence and faults of the log itself.

    Ctrl-C ends it. Exit code: 0 quiet, 1 an alarm, 2 bad input.
    """
    from scaling_collapse.logs.options import Options

    options = Options(format=log_format, loss=loss, validation=validation, step=step)
    chosen = _reference(reference, reference_run)
    alarms = (
        _judge(log, options, chosen, total_steps, rate)
        if once
        else _follow(log, options, chosen, total_steps, rate, every, on_alarm, quiet=as_json)
    )
    if as_json:
        sys.stdout.write(json.dumps({"alarms": [alarm.as_json() for alarm in alarms]}, indent=1) + "\n")
    elif once:
        for alarm in alarms:
            _say(alarm)
        if not alarms:
            typer.secho(f"{log}: quiet", fg="green")
    if any(not alarm.is_artefact for alarm in alarms):
        raise typer.Exit(1)


def _reference(table: Path | None, name: str | None) -> Reference | None:
    from scaling_collapse.curves.curve import curves_of
    from scaling_collapse.curves.table import choose_runs, read_curves
    from scaling_collapse.diagnose.reference import reference_of
    from scaling_collapse.errors import CurveError
    from scaling_collapse.predict.table import split_of

    if table is None:
        return None
    frame = read_curves(table)
    if name is not None:
        frame = choose_runs(frame, [name])
    curves = [curve for curve in curves_of(frame, split_of(frame, None)) if curve.finished]
    if not curves:
        raise CurveError(str(table), "no run in it is finished, as a reference has to be.", "name another table")
    return reference_of(min(curves, key=lambda curve: curve.size_params))


def _judge(
    log: Path, options: Options, reference: Reference | None, total_steps: float | None, rate: float
) -> list[Alarm]:
    """All alarms of a finished log, each run of it by itself."""
    from scaling_collapse.diagnose.diagnose import diagnose_log
    from scaling_collapse.logs.read import read_logs

    runs: dict[str, dict[str, tuple]] = {}  # type: ignore[type-arg]
    for curve in read_logs([log], options).curves:
        runs.setdefault(curve.run, {})[curve.split] = (curve.step, curve.loss)
    alarms: list[Alarm] = []
    for run, splits in runs.items():
        train = splits.pop("train", None) or splits.pop(next(iter(splits)))
        held_out = splits.get("validation")
        alarms += diagnose_log(run, *train, total_steps, reference, held_out, rate).alarms
    return alarms


def _follow(
    log: Path,
    options: Options,
    reference: Reference | None,
    total_steps: float | None,
    rate: float,
    every: float,
    command: str | None,
    quiet: bool,
) -> list[Alarm]:
    """Follow until Ctrl-C; return the alarms as they stand then."""
    from rich.console import Console
    from rich.status import Status

    from scaling_collapse.cli.watching import Watcher
    from scaling_collapse.logs.tail import Tail

    watcher = Watcher(log.stem, options, total_steps, reference, rate)
    console = Console(stderr=True, highlight=False)
    try:
        with Tail(log) as tail, Status(f"waiting for {log}", console=console) as status:
            while True:
                for piece, begins in tail.pieces():
                    if begins:
                        watcher.follower.new_file()
                    _tell(watcher.feed(piece), console, command, quiet)
                status.update(_state(watcher, log))
                time.sleep(every)
    except KeyboardInterrupt:
        _tell(watcher.end(), console, command, quiet)
    return watcher.alarms()


def _tell(alarms: Iterable[Alarm], console: Console, command: str | None, quiet: bool) -> None:
    for alarm in alarms:
        if not quiet:
            _say(alarm)
        if command is not None:
            text = json.dumps(alarm.as_json())
            done = subprocess.run(command, shell=True, input=text, text=True, capture_output=True)
            if done.returncode:
                console.print(f"--on-alarm ended with {done.returncode}: {done.stderr.strip()[:200]}", style="yellow")


def _say(alarm: Alarm) -> None:
    place = f"step {alarm.onset_step}"
    if alarm.onset_fraction is not None:
        place += f" ({alarm.onset_fraction:.0%} of training)"
    words = f"ALARM {alarm.run}: {alarm.kind.replace('_', ' ')} from {place}{', recovered' if alarm.recovered else ''}"
    typer.secho(words, fg="yellow" if alarm.recovered or alarm.is_artefact else "red", bold=True)
    typer.echo(f"  {alarm.evidence}")


def _state(watcher: Watcher, log: Path) -> str:
    """One line: each run's last losses, and how many alarms there are."""
    parts = [
        f"{run}: step {step} {split} {loss:.4f}"
        for run, watched in list(watcher.runs.items())[-2:]
        for split, (step, loss) in watched.last.items()
    ]
    count = len(watcher.alarms())
    return f"{'; '.join(parts) or f'no losses in {log} yet'}; {count} alarm{'' if count == 1 else 's'}"
