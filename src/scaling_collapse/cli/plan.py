"""`collapse plan`: what a study would train and draw, where it is already, and what the rest costs."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import typer

from scaling_collapse.cli.looking import CACHE, SCALE, TARGET, looked_at

if TYPE_CHECKING:
    from scaling_collapse.config.scale import Scale
    from scaling_collapse.pipeline.planning import Plan
    from scaling_collapse.plan.run import Run
    from scaling_collapse.plan.summary import Total
    from scaling_collapse.stages.study import Study

COLUMNS = ("run", "N", "D", "TPP", "B [seqs]", "steps", "LR", "lambda", "tau", "schedule", "FLOPs", "cached")
LEFT = ("run", "schedule", "cached")
WIDTH = 110
WHERE = ("here", "local", "remote", "run", "unknown")


def plan(
    target: str = TARGET,
    scale: str = SCALE,
    group: str | None = typer.Option(None, help="Only the runs of this group."),
    cache: str = CACHE,
    as_json: bool = typer.Option(False, "--json", help="One JSON list with an object for each run."),
    as_csv: bool = typer.Option(False, "--csv", help="Comma-separated values with a header."),
) -> None:
    """List all training runs with N, D, TPP, B, tau, lambda, learning rate, FLOPs, and where each is cached."""
    from scaling_collapse.plan.summary import choose, row

    if as_json and as_csv:
        raise typer.BadParameter("choose one of --json and --csv")
    with looked_at(scale, target, cache) as (study, found):
        runs = choose(study.scale, list(study.runs.values()), group)
        if target:
            products = {path for stage in found.graph.behind(found.targets) for path in stage.outputs}
            runs = [run for run in runs if _product(study, run) in products]
        cached = {run.run_id: _cached(study, found, run) for run in runs}
        rows = [{**row(study.scale, run, group), "cached": cached[run.run_id]} for run in runs]
        if as_json:
            sys.stdout.write(json.dumps(rows, indent=1) + "\n")
        elif as_csv:
            writer = csv.DictWriter(sys.stdout, fieldnames=list(rows[0]) if rows else [], lineterminator="\n")
            writer.writeheader()
            writer.writerows({**r, "groups": " ".join(r["groups"])} for r in rows)
        else:
            _print_table(study.scale, runs, cached, group)
            trained = {
                state.stage.name: run for run in study.runs.values() if (state := found.maker(_product(study, run)))
            }
            _print_stages(study, found, trained)
            _print_totals(study, found, trained, runs, group)


def _product(study: Study, run: Run) -> str:
    return str(study.paths.run(run.run_id) / "run.json")


def _cached(study: Study, found: Plan, run: Run) -> str:
    """Where a run is: local (in its place, or in this machine's cache), remote, run, unknown."""
    state = found.maker(_product(study, run))
    if state is None:
        return "run"
    return "local" if state.where == "here" else str(state.where)


def _print_table(scale: Scale, runs: Sequence[Run], cached: Mapping[str, str], group: str | None) -> None:
    """Runs under their groups, a shared run under the first one."""
    from scaling_collapse.plan.summary import totals

    table = [[*_cells(run), cached[run.run_id]] for run in runs]
    widths = [max([len(name), *(len(cells[i]) for cells in table)]) for i, name in enumerate(COLUMNS)]
    typer.secho(_line(COLUMNS, widths), bold=True)
    shown = set[str]()
    for total in totals(scale, runs, group):
        typer.secho(f"\n{_heading(total)}", fg="cyan")
        for run, cells in zip(runs, table, strict=True):
            if total.group in run.groups and run.run_id not in shown:
                shown.add(run.run_id)
                typer.echo(_line(cells, widths))


def _print_stages(study: Study, found: Plan, trained: Mapping[str, Run]) -> None:
    """One line a figure: how many of the stages that matter for it are where, and what it still has to train.

    `trained`: the run that a stage trains, by the stage's name.
    """
    from rich.console import Console
    from rich.table import Table

    from scaling_collapse.pipeline.cost import device_hours, measured_throughput

    throughput = measured_throughput(study.paths.results / "runs")
    table = Table(title="\nWhat each target still needs", title_justify="left", title_style="bold", box=None)
    table.add_column("target", no_wrap=True)
    for heading in (*WHERE, "to train", "FLOPs", "device-hours"):
        table.add_column(heading, justify="right", no_wrap=True)
    makers = {name: state.stage for name in study.figures if (state := found.maker(study.pictures(name)[0]))}
    asked = {stage.name for stage in found.targets}
    lines = {name: [stage] for name, stage in makers.items() if stage.name in asked}
    for name, stages in {**lines, "all that was asked for": found.targets}.items():
        states = found.needed(stages)
        counts = [sum(state.where == where for state in states) for where in WHERE]
        train = [run for state in states if state.must_run and (run := trained.get(state.stage.name))]
        hours = device_hours(train, throughput)
        flops = f"{sum(run.flops for run in train):.3g}" if train else "-"
        table.add_row(
            name, *(str(number or "-") for number in counts), str(len(train) or "-"), flops, _hours(hours, bool(train))
        )
    console = Console(highlight=False)
    console.width = max(console.width, WIDTH)  # a pipe has no width of its own
    console.print(table)
    waits = {name for state in found.needed() for name in state.waits_for}
    if waits:
        typer.echo(f"unknown: until {', '.join(sorted(waits)[:4])}{' ...' if len(waits) > 4 else ''} has run")


def _hours(hours: float | None, any_run: bool) -> str:
    if not any_run:
        return "-"
    return "not measured" if hours is None else f"{hours:.3g}"


def _print_totals(
    study: Study, found: Plan, trained: Mapping[str, Run], runs: Sequence[Run], group: str | None
) -> None:
    from scaling_collapse.pipeline.cost import disk_bytes
    from scaling_collapse.plan.summary import row, totals

    disk = sum(disk_bytes(state, trained.get(name)) for name, state in found.states.items())
    ours = [run for run in runs if row(study.scale, run)["ours"]]
    typer.echo(f"disk: about {disk / 1e9:.3g} GB for all outputs of these stages")
    typer.secho(
        f"\n{study.scale.name}: {_count(runs, 'run')} in {_count(totals(study.scale, runs, group), 'group')}, "
        f"{_flops(runs)}; {len(ours)} of them ({_flops(ours)}) with values of ours, not the paper's",
        bold=True,
    )


def _count(things: Sequence[object], word: str) -> str:
    return f"{len(things)} {word}{'' if len(things) == 1 else 's'}"


def _flops(runs: Sequence[Run]) -> str:
    return f"{sum(run.flops for run in runs):.3g} FLOPs"


def _cells(run: Run) -> list[str]:
    from scaling_collapse.plan.summary import scaled

    return [
        run.run_id,
        scaled(run.params),
        scaled(run.tokens),
        f"{run.tpp:g}",
        f"{run.batch_sequences}",
        f"{run.steps}",
        f"{run.optimizer.peak_lr:.3g}",
        f"{run.optimizer.weight_decay:.3g}",
        "-" if run.tau is None else f"{run.tau:.3g}",
        run.schedule.kind,
        f"{run.flops:.3g}",
    ]


def _heading(total: Total) -> str:
    shared = total.runs - total.new_runs
    parts = [
        total.group,
        f"({total.source})" if total.source else "",
        "[values ours]" if total.ours else "",
        f"{total.runs} run{'' if total.runs == 1 else 's'}" + (f" ({shared} listed above)" if shared else ""),
        f"{total.flops:.3g} FLOPs",
    ]
    return "  ".join(part for part in parts if part)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Text to the left, numbers to the right."""
    columns = zip(COLUMNS, cells, widths, strict=True)
    return "  ".join(c.ljust(w) if name in LEFT else c.rjust(w) for name, c, w in columns).rstrip()
