"""`collapse plan`: what a scale would train, and what it costs, before anything runs."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence

import typer

from scaling_collapse.config.load import load_scale
from scaling_collapse.config.scale import Scale
from scaling_collapse.plan.expand import expand
from scaling_collapse.plan.run import Run
from scaling_collapse.plan.summary import Total, choose, row, scaled, totals

COLUMNS = ("run", "N", "D", "TPP", "B [seqs]", "steps", "LR", "lambda", "tau", "schedule", "FLOPs")


def plan(
    scale: str = typer.Option("cpu", help="Scale: a name in config/scale, or a YAML file."),
    group: str | None = typer.Option(None, help="Only the runs of this group."),
    as_json: bool = typer.Option(False, "--json", help="One JSON list with an object for each run."),
    as_csv: bool = typer.Option(False, "--csv", help="Comma-separated values with a header."),
) -> None:
    """List all training runs of a scale with N, D, TPP, B, tau, lambda, learning rate and FLOPs."""
    if as_json and as_csv:
        raise typer.BadParameter("choose one of --json and --csv")
    loaded = load_scale(scale)
    runs = choose(loaded, expand(loaded), group)
    rows = [row(loaded, run, group) for run in runs]
    if as_json:
        sys.stdout.write(json.dumps(rows, indent=1) + "\n")
    elif as_csv:
        writer = csv.DictWriter(sys.stdout, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({**r, "groups": " ".join(r["groups"])} for r in rows)
    else:
        _print_table(loaded, runs, group)


def _print_table(scale: Scale, runs: Sequence[Run], group: str | None) -> None:
    """Runs under their groups, a shared run under the first one, and the totals."""
    table = [_cells(run) for run in runs]
    widths = [max(len(name), *(len(cells[i]) for cells in table)) for i, name in enumerate(COLUMNS)]
    typer.secho(_line(COLUMNS, widths), bold=True)
    by_group = totals(scale, runs, group)
    shown = set[str]()
    for total in by_group:
        typer.secho(f"\n{_heading(total)}", fg="cyan")
        for run, cells in zip(runs, table, strict=True):
            if total.group in run.groups and run.run_id not in shown:
                shown.add(run.run_id)
                typer.echo(_line(cells, widths))
    ours = [run for run in runs if row(scale, run)["ours"]]
    typer.secho(
        f"\n{scale.name}: {_count(runs, 'run')} in {_count(by_group, 'group')}, {_flops(runs)}; "
        f"{len(ours)} of them ({_flops(ours)}) with values of ours, not the paper's",
        bold=True,
    )


def _count(things: Sequence[object], word: str) -> str:
    return f"{len(things)} {word}{'' if len(things) == 1 else 's'}"


def _flops(runs: Sequence[Run]) -> str:
    return f"{sum(run.flops for run in runs):.3g} FLOPs"


def _cells(run: Run) -> list[str]:
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
    return "  ".join(c.ljust(w) if name in ("run", "schedule") else c.rjust(w) for name, c, w in columns).rstrip()
