"""A family of sizes, ready to draw: its lines, their mean and spread, and the numbers of its collapse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from scaling_collapse.curves.family import FamilySummary, family_summary
from scaling_collapse.curves.grid import to_grid
from scaling_collapse.curves.measures import PERCENT, cross_run_std
from scaling_collapse.errors import CurveError
from scaling_collapse.figures.context import FigureContext
from scaling_collapse.figures.lines import Line, finished, lines_of


@dataclass(frozen=True)
class Family:
    """Lines of a family. Where its spread cannot be measured `summary` is None, and `remark` and `problem` say why.

    `compared` are the lines that the spread is over, one a size; `mean` and `std` (in percent of L(T)) are theirs at
    each point of `grid`, all of shape (g,).
    """

    lines: list[Line]
    compared: list[Line]
    summary: FamilySummary | None
    grid: np.ndarray
    mean: np.ndarray
    std: np.ndarray
    remark: str = ""
    problem: str = ""

    def deviation(self, line: Line) -> np.ndarray:
        """Return l of a finished line minus the family's mean on the grid, in percent of L(T)."""
        return np.asarray(PERCENT * (_on_grid(line, self.grid) - self.mean))

    def words(self) -> str:
        """Return the spread, and the noise floor where it is known: 'spread 0.31% (noise 0.22%)'."""
        if self.summary is None:
            return self.remark
        floor = self.summary.noise_floor_percent
        noise = f" (noise {floor:.2f}%)" if np.isfinite(floor) else ""
        return f"spread {self.summary.spread_percent:.2f}%{noise}"


def family(frame: pd.DataFrame, context: FigureContext, split: str = "train") -> Family:
    """Return the family of all runs in `frame` on `split`; the spread is that of `curves.family`.

    Raises CurveError where `frame` has no such curve; too few finished sizes give a remark instead of numbers.
    """
    lines = lines_of(frame, context, split)
    try:
        summary = family_summary(frame, split, context.normalisation(split), context.grid)
    except CurveError as error:
        return _without_numbers(lines, context.grid, error.problem)
    compared = [line for line in finished(lines) if line.run in summary.runs]
    l_RG = np.array([_on_grid(line, context.grid) for line in compared])
    return Family(lines, compared, summary, context.grid, l_RG.mean(axis=0), cross_run_std(l_RG))


def sweep(frame: pd.DataFrame, context: FigureContext, split: str = "train") -> Family:
    """Return the runs of a sweep, compared with their own mean: their differences are meant, so none is a spread."""
    return _without_numbers(lines_of(frame, context, split), context.grid, "")


def _without_numbers(lines: list[Line], grid: np.ndarray, problem: str) -> Family:
    whole = finished(lines)
    mean = np.array([_on_grid(line, grid) for line in whole]).mean(axis=0) if whole else np.full(len(grid), np.nan)
    unknown = np.full(len(grid), np.nan)
    if len(whole) > 1:
        return Family(lines, whole, None, grid, mean, unknown, "no spread" if problem else "", problem)
    return Family(lines, whole, None, grid, mean, unknown, "one run: no spread" if whole else "no finished run")


def _on_grid(line: Line, grid: np.ndarray) -> np.ndarray:
    return to_grid(line.t_hat, line.normalised, grid)
