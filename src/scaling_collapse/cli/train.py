"""`collapse train`: train one run of the plan, or resume it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from scaling_collapse.plan.run import Run

REFERENCE = typer.Option(
    None, help="Table of curves whose smaller, like runs this one is held against. Default: the scale's own, if there."
)


def train(
    run_id: str = typer.Argument(help="Run to train, as `collapse plan` lists it."),
    scale: str = typer.Option("cpu", "--scale", help="Scale: smoke, cpu, paper, or a file."),
    threads: int = typer.Option(1, help="Threads of this process; two runs of one thread beat one run of two."),
    micro_batch: int | None = typer.Option(None, help="Sequences at once, to save memory; default: the whole batch."),
    device: str = typer.Option("cpu", help="Where to compute, as torch names it."),
    checkpoint_seconds: float = typer.Option(30.0, help="Seconds between checkpoints."),
    progress_seconds: float = typer.Option(10.0, help="Seconds between lines of progress."),
    reference: Path | None = REFERENCE,
    stop_on_alarm: bool = typer.Option(False, help="End the training, after a checkpoint, on an alarm that lasts."),
) -> None:
    """Train one run of the plan, or resume it where it stopped; alarms and the predicted final loss are in its lines.

    Ctrl-C and SIGTERM write a checkpoint first. Several processes: torchrun -m scaling_collapse.cli.app train ...
    """
    from scaling_collapse.config.family import MAIN_CORPUS
    from scaling_collapse.config.load import load_scale
    from scaling_collapse.errors import RunError
    from scaling_collapse.paths import Paths
    from scaling_collapse.plan.expand import expand
    from scaling_collapse.train.execution import Execution

    loaded = load_scale(scale)
    run = find_run(expand(loaded), run_id, loaded.name)
    if run.data != MAIN_CORPUS:
        raise RunError(run_id, f"trains on {run.data!r}, which is planned but cannot be built", "give it its own scale")
    execution = Execution(device, threads, micro_batch, checkpoint_seconds)

    from scaling_collapse.live.watched_progress import watched_progress
    from scaling_collapse.train.loop import train_run

    paths = Paths(loaded.name)
    progress = watched_progress(run, reference, paths.curves, progress_seconds, stop_on_alarm)
    train_run(run, paths, execution, progress, loaded.corpus)


def find_run(runs: Sequence[Run], run_id: str, scale: str) -> Run:
    """Return the run of that id. Raises RunError with the nearest id, or the command that lists them."""
    import difflib

    from scaling_collapse.errors import RunError

    known = {run.run_id: run for run in runs}
    if run_id in known:
        return known[run_id]
    near = difflib.get_close_matches(run_id, known, n=1)
    fix = f"did you mean {near[0]!r}?" if near else f"see `collapse plan --scale {scale}` for its {len(known)} runs."
    raise RunError(run_id, f"is no run of the scale {scale!r}.", fix)
