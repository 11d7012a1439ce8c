"""From a table of curves to the runs that a report speaks of, whatever is missing of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from scaling_collapse.curves.curve import Curve, curves_of
from scaling_collapse.diagnose.diagnose import Diagnosis
from scaling_collapse.diagnose.reference import Reference
from scaling_collapse.errors import CurveError, ProjectError
from scaling_collapse.figures.lines import Line, line_of
from scaling_collapse.predict.prediction import Prediction
from scaling_collapse.predict.template import Template, default_normalisation

if TYPE_CHECKING:
    import pandas as pd

VALIDATION = "validation"
DIVERGED = "diverged"

HOW_LONG = (
    "say --complete if every run was logged to its end, else `collapse import` with --tokens-per-step and "
    "--fact tokens_total"
)


@dataclass(frozen=True)
class Missing:
    """Something that the report cannot say: of what (a run, or the family), why, and what would mend it."""

    what: str
    why: str
    fix: str = ""

    @classmethod
    def of(cls, error: ProjectError, what: str = "") -> Missing:
        """Return what an error says."""
        return cls(what or error.where, error.problem.rstrip("."), error.fix)


@dataclass(frozen=True)
class Member:
    """A run, and what was found about it.

    `line` is how pictures draw it. `length_known` is False where only the steps that were logged are known; t_hat is
    then their fraction. `not_finite` (m,) are steps with losses that are NaN or infinite. `compared_with` are the runs
    behind `reference`.
    """

    curve: Curve
    line: Line
    length_known: bool = True
    validation: Curve | None = None
    not_finite: np.ndarray = field(default_factory=lambda: np.empty(0))
    diagnosis: Diagnosis | None = None
    reference: Reference | None = None
    compared_with: tuple[str, ...] = ()
    prediction: Prediction | None = None
    template: Template | None = None

    @property
    def run(self) -> str:
        """Name of the run."""
        return self.curve.run

    @property
    def diverged(self) -> bool:
        """Whether the run is known to have diverged."""
        return self.curve.diverged

    @property
    def finished(self) -> bool:
        """Whether the run has a final loss."""
        return self.length_known and self.curve.finished

    @property
    def in_progress(self) -> bool:
        """Whether the run is known to go on."""
        return self.length_known and not self.diverged and not self.finished

    def as_diverged(self) -> Member:
        """Return the run with the status of one that diverged."""
        curve = replace(self.curve, facts=self.curve.facts | {"status": DIVERGED})
        return replace(self, curve=curve, line=line_of(curve, default_normalisation(curve.split)))


def members_of(
    frame: pd.DataFrame,
    split: str,
    complete: bool = False,
    not_finite: Mapping[tuple[str, str], np.ndarray] | None = None,
) -> tuple[list[Member], list[Missing]]:
    """Return the runs of a checked table that have losses of `split`, in its order, and what is left out or unknown."""
    lost = not_finite or {}
    members, missing = [], []
    for name, rows in frame.groupby("run", sort=False, observed=True):
        run = str(name)
        try:
            curve, known, problem = _curve(rows, split, complete)
            line = line_of(curve, default_normalisation(split))
        except CurveError as error:
            missing.append(Missing.of(error, run))
            continue
        if problem is not None:
            missing.append(Missing(run, f"{problem.problem.rstrip('.')}; it is not compared or predicted", HOW_LONG))
        held_out = None
        if split != VALIDATION and (rows["split"] == VALIDATION).any():
            try:
                held_out, _, _ = _curve(rows, VALIDATION, complete)
            except CurveError as error:
                missing.append(Missing.of(error, f"{run}, {VALIDATION}"))
        members.append(Member(curve, line, known, held_out, lost.get((run, split), np.empty(0))))
    return members, missing


def _curve(rows: pd.DataFrame, split: str, complete: bool) -> tuple[Curve, bool, CurveError | None]:
    """Return a run's curve, whether its length is known, and why not. Raises CurveError where it cannot be read."""
    try:
        return next(curves_of(rows, split, complete)), True, None
    except CurveError as error:
        return next(curves_of(rows, split, complete=True)), False, error
