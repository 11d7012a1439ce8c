"""`collapse watch`: an alarm on a training log, while it grows or when it is finished."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from scaling_collapse.cli.watch_run import WatchedRun
    from scaling_collapse.cli.watch_screen import Screen
    from scaling_collapse.cli.watch_setting import Setting
    from scaling_collapse.curves.curve import Curve
    from scaling_collapse.diagnose.alarm import Alarm
    from scaling_collapse.logs.options import Options

LOG = typer.Argument(help="Log file of any format that `collapse import` reads.")
ONCE = typer.Option(False, "--once", help="The log is finished: judge it and end. Tables of curves too.")
STEPS = typer.Option(None, "--steps", help="Length of the run in steps.")
REFERENCE = typer.Option(None, "--reference", help="Table of curves, or a log, with a finished run to compare with.")
REFERENCE_RUN = typer.Option(None, "--reference-run", help="Which run of it. Default: the one that fits best.")
COMMAND = typer.Option(
    None,
    "--on-alarm",
    help="Shell command, run once for each alarm; it finds it in COLLAPSE_RUN, "
    "COLLAPSE_KIND, COLLAPSE_STEP and others.",
)
RATE = typer.Option(0.01, "--rate", help="Probability of a false alarm in a healthy run, .001 to .1.")
TPP = typer.Option(None, "--tpp", help="Tokens per parameter of the run.")
TAU = typer.Option(None, "--tau", help="AdamW timescale of the run.")
SCHEDULE = typer.Option(None, "--schedule", help="Kind of its learning-rate schedule, e.g. linear_to_zero.")
LOSS = typer.Option(None, "--loss", help="Column (key, tag) of the training loss.")
VALIDATION = typer.Option(None, "--validation", help="Column of the validation loss.")
STEP = typer.Option(None, "--step", help="Column of the steps; row: count the records instead.")
FORMAT = typer.Option(None, "--format", help="Format of the log. Default: recognised from content.")
EVERY = typer.Option(60.0, "--every", min=0.0, help="Seconds between status lines, where there is no terminal.")
FOLLOW_FOR = typer.Option(None, "--follow-for", min=0.0, help="End after so many seconds.")
WAIT = typer.Option(False, "--wait", help="The log need not be there yet.")
AS_JSON = typer.Option(False, "--json", help="At the end, one JSON object with all alarms.")


def watch(
    log: Path = LOG,
    once: bool = ONCE,
    steps: float | None = STEPS,
    reference: Path | None = REFERENCE,
    reference_run: str | None = REFERENCE_RUN,
    on_alarm: str | None = COMMAND,
    rate: float = RATE,
    tpp: float | None = TPP,
    tau: float | None = TAU,
    schedule: str | None = SCHEDULE,
    loss: str | None = LOSS,
    validation: str | None = VALIDATION,
    step: str | None = STEP,
    log_format: str | None = FORMAT,
    every: float = EVERY,
    follow_for: float | None = FOLLOW_FOR,
    wait: bool = WAIT,
    as_json: bool = AS_JSON,
) -> None:
    """Follow a training log, through rotation and restarts, and tell spikes, drift, divergence and overfitting.

    Ctrl-C or SIGTERM ends it. Exit code: 0 quiet, 1 an alarm, 2 bad input. Faults of the log alone are no alarm.
    """
    from scaling_collapse.cli.watch_run import counts
    from scaling_collapse.cli.watch_setting import Setting
    from scaling_collapse.diagnose.judge import check_rate
    from scaling_collapse.logs.options import Options
    from scaling_collapse.logs.registry import format_named

    check_rate(rate)
    _check_positive(steps=steps, tpp=tpp, tau=tau)
    if log_format is not None:
        format_named(log_format)
    options = Options(format=log_format, loss=loss, validation=validation, step=step)
    setting = Setting(steps, rate, _references(reference, reference_run), reference_run is not None, tpp, tau, schedule)
    if once:
        alarms = _judge(log, options, setting, on_alarm, as_json)
    else:
        alarms = _follow(log, options, setting, on_alarm, _screen(log, every, as_json), follow_for, wait)
    if as_json:
        sys.stdout.write(json.dumps({"alarms": [alarm.as_json() for alarm in alarms]}, indent=1) + "\n")
    if any(map(counts, alarms)):
        raise typer.Exit(1)


def _check_positive(**numbers: float | None) -> None:
    from scaling_collapse.errors import ConfigError

    for name, value in numbers.items():
        if value is not None and not 0 < value < float("inf"):
            raise ConfigError(f"--{name}", f"{value:g} is not positive and finite.")


def _references(path: Path | None, name: str | None) -> list[Curve]:
    """Return the finished runs of a file, or the one that is named. Raises CurveError where there is none."""
    from scaling_collapse.curves.curve import curves_of
    from scaling_collapse.curves.table import choose_runs
    from scaling_collapse.errors import CurveError
    from scaling_collapse.logs.given import assumed_finished, read_given
    from scaling_collapse.predict.table import split_of

    if path is None:
        if name is not None:
            raise CurveError(f"--reference-run {name}", "it is a run of --reference, which is missing.", "give both")
        return []
    files = read_given([path])
    frame = files.frame if name is None else choose_runs(files.frame, [name])
    split = split_of(frame, None)
    for line in (*files.said, *assumed_finished(frame[frame["split"] == split])):
        typer.secho(line, err=True, dim=True)
    finished = [curve for curve in curves_of(frame, split, complete=True) if curve.finished]
    if not finished:
        what = "no run in it is finished" if name is None else f"run {name} is not finished"
        raise CurveError(str(path), f"{what}, as a reference has to be.", "name another one")
    return finished


def _judge(log: Path, options: Options, setting: Setting, command: str | None, as_json: bool) -> list[Alarm]:
    """Judge a finished log."""
    from scaling_collapse.cli.on_alarm import OnAlarm
    from scaling_collapse.cli.watch_finished import read_finished, said_of, watch_finished
    from scaling_collapse.cli.watch_run import counts

    found = read_finished(log, options)
    for line in found.said:
        typer.secho(line, err=True, dim=True)
    runs = watch_finished(found.runs, setting)
    for line in said_of(runs):
        typer.secho(line, err=True, dim=True)
    hook = OnAlarm(command, log, lambda line: typer.secho(line, err=True, dim=True))
    alarms = [alarm for run in runs.values() for alarm in run.alarms]
    if not as_json:
        _show(runs, alarms)
    for alarm in filter(counts, alarms):
        hook.add(alarm)
    hook.finish()
    return alarms


def _show(runs: dict[str, WatchedRun], alarms: Sequence[Alarm]) -> None:
    from scaling_collapse.cli.watch_run import alarm_line, counts, is_told
    from scaling_collapse.cli.watch_screen import status_line

    for alarm in (alarm for alarm in alarms if is_told(alarm, alarms)):
        fg = "cyan" if not counts(alarm) else "yellow" if alarm.recovered else "red"
        typer.secho(alarm_line(alarm), fg=fg)
    if len(runs) == 1:
        ((name, run),) = runs.items()
        typer.echo(status_line(name, run))
        return
    quiet = sum(not any(map(counts, run.alarms)) for run in runs.values())
    typer.secho(f"{len(runs)} runs: {quiet} quiet, {len(runs) - quiet} with an alarm", bold=True)


def _screen(log: Path, every: float, as_json: bool) -> Screen:
    from scaling_collapse.cli.watch_screen import Lines, View

    return View(str(log)) if sys.stdout.isatty() and not as_json else Lines(every, as_json)


def _follow(
    log: Path,
    options: Options,
    setting: Setting,
    command: str | None,
    screen: Screen,
    seconds: float | None,
    wait: bool,
) -> list[Alarm]:
    from scaling_collapse.cli.on_alarm import OnAlarm
    from scaling_collapse.cli.watch_follow import follow
    from scaling_collapse.cli.watch_log import LogWatch
    from scaling_collapse.logs.run_names import run_names

    watched = LogWatch(run_names([log])[0], options, setting)
    follow(log, watched, screen, OnAlarm(command, log, screen.say), seconds, wait)
    return watched.alarms
