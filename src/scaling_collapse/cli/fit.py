"""`collapse fit`: the surrogate of the universal curve, fitted to finished runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from scaling_collapse.cli.predicting import COMPLETE, SPLIT

if TYPE_CHECKING:
    from scaling_collapse.curves.normalise import Normalisation
    from scaling_collapse.surrogate.study import SurrogateStudy


CURVES = typer.Argument(None, help="Tidy table of curves, .csv or .parquet; default: all those of the scale.")
SIZE = typer.Option([], "--size", help="Fit runs of this size; repeat for several. Default: the smallest that can.")
OUTPUT = typer.Option(None, "--output", help="Write the constants to this .json file.")


def fit(
    curves: Path | None = CURVES,
    scale: str = typer.Option("cpu", "--scale", help="Scale, where no table is given: smoke, cpu, paper, or a file."),
    size: list[str] = SIZE,
    split: str | None = SPLIT,
    form: str = typer.Option("paper", "--form", help="paper (4 constants), both_laws (6) or free_decay (6)."),
    robust: bool = typer.Option(False, "--robust", help="Objective that outliers move less; default: the paper's MAE."),
    draws: int = typer.Option(200, "--draws", min=0, help="Resamples of the runs behind the intervals; 0: none."),
    complete: bool = COMPLETE,
    output: Path | None = OUTPUT,
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of tables."),
) -> None:
    """Fit the surrogate to the runs of a small size, and test it on all others.

    Without a table of curves it reads results/<scale>/curves.parquet and writes results/<scale>/surrogate.json.
    """
    from scaling_collapse.cli.fit_tables import show_study
    from scaling_collapse.surrogate.stored import study_as_json, write_surrogate

    if output is not None and output.suffix != ".json":
        raise typer.BadParameter(f"--output is a .json file, not {output}")
    source, target, normalise = (curves, output, None) if curves else _of_scale(scale, output, split)
    study = _study(source, split, size, form, robust, normalise, draws, complete)
    if target is not None:
        write_surrogate(study, target)
    if as_json:
        sys.stdout.write(json.dumps(study_as_json(study), indent=1) + "\n")
        return
    show_study(study)
    if target is not None:
        typer.echo(f"\nconstants: {target}")


def _study(
    source: Path,
    split: str | None,
    sizes: list[str],
    form: str,
    robust: bool,
    normalise: Normalisation | None,
    draws: int,
    complete: bool,
) -> SurrogateStudy:
    from scaling_collapse.curves.table import read_curves
    from scaling_collapse.predict.table import split_of
    from scaling_collapse.surrogate.problem import MAE, ROBUST
    from scaling_collapse.surrogate.study import fit_study

    table = read_curves(source)
    chosen, objective = split_of(table, split), ROBUST if robust else MAE
    return fit_study(table, chosen, sizes, form, objective, normalisation=normalise, draws=draws, complete=complete)


def _of_scale(scale: str, output: Path | None, split: str | None) -> tuple[Path, Path, Normalisation]:
    """Return the scale's table of curves, the file to write, and how the scale normalises losses."""
    from scaling_collapse.config.load import load_scale
    from scaling_collapse.curves.analysis import normalisation_of
    from scaling_collapse.paths import Paths

    loaded = load_scale(scale)
    paths = Paths(loaded.name)
    lengths = {family.architecture.sequence_length for family in loaded.families}
    length = lengths.pop() if len(lengths) == 1 else None
    return paths.curves, output or paths.surrogate, normalisation_of(loaded.analysis, split or "train", length)
