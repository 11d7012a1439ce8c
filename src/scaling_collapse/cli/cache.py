"""`collapse cache`: set up, inspect and look after the cache of stages that a lab shares."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from scaling_collapse.cli.looking import SCALE, looked_at, warn

if TYPE_CHECKING:
    from scaling_collapse.cache.store import Store
    from scaling_collapse.identity.hashing import Content
    from scaling_collapse.identity.resolve import State

app = typer.Typer(no_args_is_help=True, help="Set up, inspect and look after the cache of stages that a lab shares.")
SHARED = typer.Option(None, help="One cache directory for all users of this machine or NFS.")
OPTIONS = typer.Option([], "--option", help="Option of DVC's remote, name=value, e.g. endpointurl=..., port=...")
SCALES = typer.Option(["smoke", "cpu", "paper"], "--scale", help="Scales whose stages are kept.")


@app.command()
def init(
    remote: str | None = typer.Option(None, help="Folder, ssh://user@host/path or s3://bucket/path."),
    shared_cache: Path | None = SHARED,
    private: bool = typer.Option(False, help="Only for this clone: .dvc/config.local instead of .dvc/config."),
    option: list[str] = OPTIONS,
) -> None:
    """Set the cache up and try it out: write, read back, verify. Nothing is changed if that fails."""
    from scaling_collapse.cache.setup import OPTION, set_up

    if remote is None and shared_cache is None:
        raise typer.BadParameter("give --remote, --shared-cache or both")
    wrong = [text for text in option if not OPTION.fullmatch(text)]
    if wrong:
        raise typer.BadParameter(f"--option is name=value, not {wrong[0]}")
    options = dict(text.split("=", 1) for text in option)
    set_up(Path(), remote, shared_cache, private, options, typer.echo)
    file = ".dvc/config.local" if private else ".dvc/config"
    typer.echo(f"written to {file}" + ("" if private else "; commit it, and your lab's clones use the same"))


@app.command()
def status(scale: str = SCALE) -> None:
    """Show, by kind of stage, what is in its place, in this machine's cache, at the remote, or nowhere."""
    from rich.console import Console
    from rich.table import Table

    from scaling_collapse.cache.upkeep import objects_of
    from scaling_collapse.errors import CacheError

    with looked_at(scale) as (_, plan):
        store = _require(plan.session.store)
        there: set[Content] | None = None
        if remote := store.remote:
            try:
                there = remote.has(objects_of(state.record for state in plan.states.values() if state.record))
            except CacheError as error:
                store.lose_remote(error)
        table = Table(box=None)
        table.add_column("stages")
        for heading in ("all", "in place", "cached here", "MB", "at remote", "MB", "partly", "missing"):
            table.add_column(heading, justify="right")
        kinds: dict[str, list[State]] = {}
        for state in plan.states.values():
            kinds.setdefault(_kind(state.stage.rule), []).append(state)
        for kind, states in {**kinds, "all": list(plan.states.values())}.items():
            table.add_row(kind, *_counts(store, there, states))
        console = Console(highlight=False)
        console.width = max(console.width, 100)  # a pipe has no width of its own
        console.print(table)
        console.print(f"cache: {store.local.folder}", soft_wrap=True)
        console.print(f"remote: {store.remote.url if store.remote else 'none, or it does not answer'}", soft_wrap=True)
        console.print("partly: some files are there and some not, or of the wrong size. Hashes: collapse cache verify")


def _counts(store: Store, at_remote: set[Content] | None, states: Sequence[State]) -> list[str]:
    """How many stages there are, in their place, whole in the cache and at the remote, in part, and nowhere."""
    from scaling_collapse.cache.upkeep import place_of

    records = [state.record for state in states if state.record]
    here = place_of(records, store.local.has)
    there = None if at_remote is None else place_of(records, at_remote.__contains__)
    return [
        str(len(states)),
        str(sum(state.where == "here" for state in states)),
        str(here.whole),
        f"{here.bytes / 1e6:.1f}",
        str(there.whole) if there else "-",
        f"{there.bytes / 1e6:.1f}" if there else "-",
        str(here.partly + (there.partly if there else 0)),
        str(len(states) - len(records)),
    ]


@app.command()
def pull(
    target: str = typer.Argument("", help="Run, group, figure, rule or file; default: all."), scale: str = SCALE
) -> None:
    """Restore the outputs of a target, and nothing else, from this machine's cache or the remote. Nothing runs."""
    from scaling_collapse.errors import CacheError
    from scaling_collapse.pipeline.lock import sole_pipeline
    from scaling_collapse.pipeline.session import count

    with looked_at(scale, target) as (_, plan), sole_pipeline(plan.session.paths.lock):
        _require(plan.session.store)
        plan.session.tell = typer.echo
        states = plan.session.restore(plan.graph, plan.targets, run=False)
        plan.session.close()
        missing = [stage for stage in plan.targets if states[stage.name].where != "here"]
        typer.echo(f"in place: {count(len(plan.targets) - len(missing))} of {len(plan.targets)}")
        if missing:
            more = f"and {len(missing) - 1} more are" if len(missing) > 1 else "is"
            raise CacheError(missing[0].title, f"{more} not cached.", "snakemake makes what is not")


@app.command()
def push() -> None:
    """Send every stage of this machine's cache to the remote that it does not have yet."""
    from scaling_collapse.cache.notes import marked_pushes, unmark_push
    from scaling_collapse.cache.upkeep import push_all
    from scaling_collapse.errors import CacheError
    from scaling_collapse.paths import StagePaths
    from scaling_collapse.pipeline.session import count

    sent, failed = push_all(_open_store(), typer.echo)
    typer.echo(f"pushed: {count(sent)}")
    if failed:
        raise CacheError(f"{count(len(failed))} not pushed", failed[0])
    for key, _ in marked_pushes(marks := StagePaths().pushes):
        unmark_push(marks, key)


@app.command()
def verify(
    remote: bool = typer.Option(False, "--remote", help="Also download and check all that the remote has."),
) -> None:
    """Hash every object of the cache; drop and name the damaged, so that the next run replaces them."""
    from scaling_collapse.cache.upkeep import verify_local, verify_remote
    from scaling_collapse.errors import CacheError

    store = _open_store()
    number, bad = verify_local(store)
    typer.echo(f"{store.local.folder}: {number} objects read, {len(bad)} damaged")
    if remote:
        far = store.remote
        if far is None:
            raise CacheError("remote", "there is none, or it does not answer.", "collapse cache init --remote URL")
        number, more = verify_remote(far)
        typer.echo(f"{far.url}: {number} objects read, {len(more)} damaged")
        bad += more
    for name in bad:
        typer.echo(f"  {name}")
    if bad:
        raise typer.Exit(1)


@app.command()
def gc(
    yes: bool = typer.Option(False, "--yes", help="Remove; without it, only say what would be removed."),
    shared: bool = typer.Option(False, "--shared", help="Also in a cache that others use, who may need what goes."),
    scale: list[str] = SCALES,
) -> None:
    """Remove from this machine's cache what no stage of these scales, as they are now, would use."""
    from scaling_collapse.cache.upkeep import drop, unneeded
    from scaling_collapse.errors import CacheError

    kept = []
    for name in scale:
        with looked_at(name, cache="local") as (_, plan):
            kept += [state.record for state in plan.states.values() if state.record]
            kept += [made.record for made in plan.session.made.values()]
    store = _open_store()
    if yes and not shared and not store.local.folder.resolve().is_relative_to(Path().resolve()):
        raise CacheError(
            str(store.local.folder),
            "is shared: the results of others may be links to what this clone does not need.",
            "add --shared if nobody else uses it, or only this commit",
        )
    records, objects = unneeded(store, kept)
    size = sum(content.size for content in objects)
    if yes:
        try:
            drop(store, records, objects)
        except OSError as error:
            raise CacheError(str(store.local.folder), f"cannot be cleared ({error.strerror}).") from error
    verb = "removed" if yes else "would be removed (--yes removes)"
    typer.echo(f"{store.local.folder}: {len(records)} records and {len(objects)} objects, {size / 1e6:.1f} MB, {verb}")


def _kind(rule: str) -> str:
    """Name many rules that each make one figure or table by what they make."""
    if rule.startswith(("fig_", "draw_")):
        return "figures"
    return "tables" if rule.startswith("tabulate_") else rule


def _open_store() -> Store:
    from scaling_collapse.cache.repository import is_repository
    from scaling_collapse.cache.store import Store

    return _require(Store(Path(), warn) if is_repository(Path()) else None)


def _require(store: Store | None) -> Store:
    from scaling_collapse.errors import CacheError

    if store is None:
        raise CacheError(".dvc", "is not here, so there is no cache.", "git checkout .dvc, or run `dvc init --no-scm`")
    return store
