"""From a figure's name to its files: read what it needs, draw, write PDF, PNG and data."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from scaling_collapse.config.figures import FigureEntry, find_figure
from scaling_collapse.config.load import load_scale
from scaling_collapse.config.scale import Scale
from scaling_collapse.curves.table import read_curves
from scaling_collapse.errors import FigureError
from scaling_collapse.figures import style
from scaling_collapse.figures.context import ALL_RUNS, FigureContext
from scaling_collapse.figures.registry import find_draw
from scaling_collapse.figures.save import save
from scaling_collapse.paths import Paths

NOTICE = "Scale {name}: made to try the pipeline out. This picture claims nothing."


def render(name: str, scale: str | Path, root: Path = Path(), key: str = "") -> list[Path]:
    """Draw the figure `name` from the curves of `scale` and return the files written: .pdf, .png, .parquet.

    `key` (the identity of the stage that draws it) goes into the pictures' keywords. Raises ConfigError for an unknown
    figure or scale, FigureError where curves or tables are missing, CurveError where they cannot be used.
    """
    entry = find_figure(name, root)
    draw = find_draw(name)
    settings = load_scale(scale, root)
    paths = Paths(settings.name, root)
    curves = _read_groups(entry, paths)
    lengths = {family.architecture.sequence_length for family in settings.families}
    context = FigureContext(
        entry=entry,
        scale=settings.name,
        analysis=settings.analysis,
        width=settings.figures.width_inches,
        sequence_length=lengths.pop() if len(lengths) == 1 else None,
        tables=_read_tables(entry, paths),
    )
    with style.style(settings.figures.dpi):
        figure, data = draw(curves, context)
        if notice := _notice(entry, settings):
            style.stamp(figure, notice)
        subject = f"{name}: {entry.paper}; scale {settings.name}"
        return save(figure, data, paths.figure(name, ""), title=entry.title, subject=subject, key=key)


def _notice(entry: FigureEntry, settings: Scale) -> str:
    reads_runs = bool(entry.groups or entry.all_runs or entry.tables)
    return NOTICE.format(name=settings.name) if reads_runs and not settings.claims else ""


def _read_groups(entry: FigureEntry, paths: Paths) -> dict[str, pd.DataFrame]:
    """Return the checked curves of each group. Raises FigureError, with the command to run, where a file is missing."""
    files = {group: paths.group_curves(group) for group in entry.groups}
    options = {group: f"--group {group}" for group in entry.groups}
    if entry.all_runs:
        files[ALL_RUNS], options[ALL_RUNS] = paths.curves, "--all"
    for group, path in files.items():
        if not path.exists():
            command = f"snakemake {entry.name}"
            scale = "" if paths.scale == "cpu" else f" --config scale={paths.scale}"
            fix = (
                f"collapse curves --scale {paths.scale} {options[group]}, or, if runs are not trained, {command}{scale}"
            )
            raise FigureError(str(path), f"the curves that {entry.name} shows are not there.", fix)
    return {group: read_curves(path) for group, path in files.items()}


def _read_tables(entry: FigureEntry, paths: Paths) -> dict[str, pd.DataFrame]:
    """Return the tables that the figure reads. Raises FigureError where one is missing or garbled."""
    files = {name: (paths.published / name, f"git checkout {paths.published / name}") for name in entry.published}
    files |= {name: (paths.table(name), f"collapse table {name} --scale {paths.scale}") for name in entry.tables}
    tables = {}
    for name, (path, fix) in files.items():
        try:
            tables[name] = pd.read_csv(path)
        except (OSError, ValueError) as error:
            raise FigureError(str(path), f"cannot be read ({error}).", fix) from error
    return tables
