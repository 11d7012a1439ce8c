"""What `collapse predict` and `collapse advise` share: their options, and predictions from a file of curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

if TYPE_CHECKING:
    import pandas as pd

    from scaling_collapse.curves.curve import Curve
    from scaling_collapse.predict.prediction import Prediction
    from scaling_collapse.predict.template import Template
    from scaling_collapse.surrogate.stored import StoredSurrogate

SURROGATE, SMALLER = "surrogate", "smaller"

CURVES = typer.Argument(help="Tidy table of curves, .csv or .parquet (columns: docs, curves).")
TEMPLATE = typer.Option(..., "--template", help="A finished run of the table, or: surrogate.")
AT = typer.Option(None, "--at", help="Know only this fraction of training, e.g. 0.3: a back-test of finished runs.")
METHOD = typer.Option("auto", "--method", help="auto, or a single method (docs, predict).")
SIBLINGS = typer.Option(
    "", "--siblings", help="Finished runs to try the methods on: smaller (than each run), or their names, with commas."
)
RUN = typer.Option([], "--run", help="Only this run, or runs like '*-1xC'; repeat for several.")
SPLIT = typer.Option(None, "--split", help="Which losses; default: train, or the only ones there are.")
CONSTANTS = typer.Option(None, "--surrogate", help="Constants that collapse fit wrote; default: ours of scale cpu.")
COMPLETE = typer.Option(False, "--complete", help="Where tokens are not known: every run was logged to its end.")
PICTURE = typer.Option(None, "--picture", help="Draw it into this file: .png, .pdf or .svg.")
JSON = typer.Option(False, "--json", help="Print JSON instead of a table.")


@dataclass(frozen=True)
class Asked:
    """What the user asked for, as the options say it."""

    curves: Path
    template: str
    at: float | None
    method: str
    siblings: str
    runs: Sequence[str]
    split: str | None
    constants: Path | None
    complete: bool
    max_half_width_percent: float | None = None

    def options(self, split: str) -> dict[str, Any]:
        """What a prediction is told beside its template, whichever kind that is."""
        return {
            "split": split,
            "complete": self.complete,
            "max_half_width_percent": self.max_half_width_percent,
        }


@dataclass(frozen=True)
class Found:
    """Predictions, with the curves and templates behind them by run; `template` says in words what was aligned to."""

    predictions: list[Prediction]
    curves: Mapping[str, Curve]
    templates: Mapping[str, Template]
    template: str
    split: str


def find_predictions(asked: Asked) -> Found:
    """Predict what was asked for. Raises CurveError or ConfigError for anything that is not there or not possible."""
    from scaling_collapse.curves.curve import curves_of
    from scaling_collapse.curves.table import choose_runs, read_curves
    from scaling_collapse.errors import CurveError
    from scaling_collapse.predict.table import split_of

    whole = read_curves(asked.curves)
    split = split_of(whole, asked.split)
    wanted = chosen_runs(whole, asked.runs)
    others = [] if asked.template == SURROGATE else [asked.template]
    siblings = _siblings(asked.siblings)
    if siblings != SMALLER:
        choose_runs(whole, [*others, *(siblings or [])])
        whole = choose_runs(whole, [*wanted, *others, *(siblings or [])])
    curves = {curve.run: curve for curve in curves_of(whole, split, asked.complete)}
    if asked.template == SURROGATE:
        found, templates, words = _by_surrogate(whole, asked, split, siblings)
    else:
        found, templates, words = _by_run(whole, asked, split, siblings, curves)
    kept = [prediction for prediction in found if prediction.run in set(wanted)]
    if not kept:
        raise CurveError(str(asked.curves), f"no run of split {split!r} is left to predict beside its template.")
    return Found(kept, curves, templates, words, split)


def _by_surrogate(
    frame: pd.DataFrame, asked: Asked, split: str, siblings: list[str] | Literal["smaller"] | None
) -> tuple[list[Prediction], Mapping[str, Template], str]:
    from scaling_collapse.predict.by_surrogate import predict_with_surrogate, surrogate_templates

    surrogate = _constants(asked.constants, split)
    made = surrogate_templates(frame, surrogate, split, asked.complete)
    found = predict_with_surrogate(
        frame, surrogate, asked.at, asked.method, siblings, **asked.options(split), made=made
    )
    words = "published surrogate of scale cpu" if asked.constants is None else f"surrogate of {asked.constants}"
    return found, made[0], words


def _by_run(
    frame: pd.DataFrame,
    asked: Asked,
    split: str,
    siblings: list[str] | Literal["smaller"] | None,
    curves: Mapping[str, Curve],
) -> tuple[list[Prediction], Mapping[str, Template], str]:
    from scaling_collapse.predict.table import predict_table
    from scaling_collapse.predict.template import template_of

    if asked.constants is not None:
        raise typer.BadParameter("--surrogate belongs to --template surrogate")
    found = predict_table(frame, asked.template, asked.at, asked.method, siblings, **asked.options(split))
    return found, dict.fromkeys(curves, template_of(curves[asked.template])), f"run {asked.template}"


def _constants(path: Path | None, split: str) -> StoredSurrogate:
    from scaling_collapse.surrogate.form import PAPER
    from scaling_collapse.surrogate.stored import published_surrogate, read_surrogate

    return published_surrogate(PAPER, split) if path is None else read_surrogate(path)


def _siblings(words: str) -> list[str] | Literal["smaller"] | None:
    if words == SMALLER:
        return "smaller"
    return [name.strip() for name in words.split(",") if name.strip()] or None


def chosen_runs(frame: pd.DataFrame, patterns: Sequence[str]) -> list[str]:
    """Return the runs that the patterns name, in the order of the table; all without a pattern."""
    from fnmatch import fnmatchcase

    from scaling_collapse.curves.table import choose_runs
    from scaling_collapse.errors import CurveError

    known = list(map(str, frame["run"].unique()))
    named: set[str] = set()
    for pattern in patterns:
        fitting = [run for run in known if run == pattern or fnmatchcase(run, pattern)]
        if not fitting and set("*?[") & set(pattern):
            raise CurveError(pattern, f"no run of the table fits it; the first is {known[0]}.", "use another pattern")
        named.update(fitting or choose_runs(frame, [pattern])["run"])
    return [run for run in known if run in named] if patterns else known
