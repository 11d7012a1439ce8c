"""`collapse why`: which setting, module, package or input makes a stage run again."""

from __future__ import annotations

import typer

from scaling_collapse.cli.looking import CACHE, SCALE, TARGET, looked_at

#: Stages that are shown in full; the rest is counted.
SHOWN = 20
LINES = 12


def why(
    target: str = TARGET,
    scale: str = SCALE,
    cache: str = CACHE,
) -> None:
    """Say of each stage behind a target what would happen to it, and what changed since it was made: old -> new."""
    from scaling_collapse.pipeline.why import reasons

    with looked_at(scale, target, cache) as (_, plan):
        found = reasons(plan)
        for reason in found[:SHOWN]:
            state = reason.state
            typer.secho(f"{state.stage.title}: {_fate(str(state.where), state.waits_for)}", bold=True)
            if reason.first and state.where == "run":
                typer.echo("  it was never made here, and the cache has nothing of this meaning")
            for change in reason.changed[:LINES]:
                typer.echo(f"  {change}")
            if len(reason.changed) > LINES:
                typer.echo(f"  and {len(reason.changed) - LINES} more changes")
        if len(found) > SHOWN:
            typer.echo(f"and {len(found) - SHOWN} more stages")
        here = len(plan.needed()) - len(found)
        typer.echo(f"{here} stage{'' if here == 1 else 's'} up to date" if here or not found else "")


def _fate(where: str, waits_for: tuple[str, ...]) -> str:
    return {
        "local": "is in this machine's cache, and would be restored",
        "remote": "is at the remote, and would be restored",
        "run": "must run",
        "unknown": f"is not known until {', '.join(waits_for[:3])}{' ...' if len(waits_for) > 3 else ''} has run",
    }[where]
