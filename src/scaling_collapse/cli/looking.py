"""What `plan`, `why` and `cache` share: the pipeline looked at without running it, and warnings on the way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from scaling_collapse.pipeline.planning import Plan
    from scaling_collapse.stages.study import Study

TARGET = typer.Argument("", help="Run, group, figure, rule or file; default: everything of the scale.")
SCALE = typer.Option("cpu", "--scale", help="Scale: smoke, cpu, paper, or a file.")
CACHE = typer.Option("on", "--cache", help="on, or local: do not ask the remote.")


@contextmanager
def looked_at(scale: str, target: str = "", cache: str = "on") -> Iterator[tuple[Study, Plan]]:
    """Yield a study and its plan for a target (empty: everything), before any of it runs.

    Raises ConfigError for an unknown scale or target, BadParameter for another `cache` than on and local.
    """
    from scaling_collapse.pipeline.planning import planned, target_files
    from scaling_collapse.pipeline.session import Mode
    from scaling_collapse.stages.study import read_study

    if cache not in (Mode.ON, Mode.LOCAL):
        raise typer.BadParameter(f"--cache is on or local, not {cache}")
    study = read_study(scale)
    with planned(study, target_files(study, target or None), Mode(cache), warn) as plan:
        yield study, plan


def warn(text: str) -> None:
    """Print a warning to stderr."""
    typer.secho(f"warning: {text}", fg="yellow", err=True)
