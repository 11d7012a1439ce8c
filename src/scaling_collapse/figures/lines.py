"""From the tidy table to lines that can be drawn, and to the tidy data that is kept beside a picture."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from scaling_collapse.curves.curve import Curve, curves_of
from scaling_collapse.curves.family import size_name
from scaling_collapse.curves.grid import ROUNDING, to_grid
from scaling_collapse.curves.normalise import Normalisation, normalise_smoothed, smoothed_loss
from scaling_collapse.curves.smooth import Smoothing
from scaling_collapse.errors import FigureError
from scaling_collapse.figures.context import FigureContext

#: Training fractions at which long curves are drawn: dense where they fall steeply; a print shows no more.
DRAWN = np.union1d(np.geomspace(0.004, 0.1, 60), np.linspace(0.1, 1.0, 361))

#: Window of losses that are shown as measured, as a fraction of training.
LIGHT = 0.02

#: What a run is, by the names that legends and data tables use.
FACTS = ("size", "size_params", "tpp", "tau", "batch_tokens", "lr_peak", "weight_decay", "schedule", "seed", "status")


@dataclass(frozen=True)
class Line:
    """A run's smoothed curve: `loss` [nats] and `normalised` (l; NaN where the run did not finish) at `t_hat`."""

    curve: Curve
    t_hat: np.ndarray
    loss: np.ndarray
    normalised: np.ndarray
    finished: bool

    @property
    def run(self) -> str:
        """Name of the run."""
        return self.curve.run

    @property
    def diverged(self) -> bool:
        """Whether the run ended with a loss that was not finite or had run away."""
        return self.curve.diverged

    def fact(self, name: str) -> float:
        """Return a number that describes the run: size_params, tpp, tau, batch_tokens, lr_peak or weight_decay."""
        if name in ("size_params", "tpp", "tau"):
            return float(getattr(self.curve, name))
        return float(self.curve.facts[name])

    @property
    def size(self) -> str:
        """Name of the size, e.g. 132k."""
        return size_name(self.curve)


def lines_of(frame: pd.DataFrame, context: FigureContext, split: str = "train") -> list[Line]:
    """Return the lines of all runs in `frame` on `split`, smallest model first, then by tau and seed.

    Raises CurveError where `frame` has no such curves, or one cannot be smoothed.
    """
    lines = [line_of(curve, context.normalisation(split)) for curve in curves_of(frame, split)]
    order = ("size_params", "tpp", "tau", "batch_tokens", "lr_peak")
    return sorted(lines, key=lambda line: (*(line.fact(name) for name in order), line.curve.seed))


def line_of(curve: Curve, how: Normalisation) -> Line:
    """Return the line of a curve, smoothed and normalised as `how` says. Raises CurveError where it cannot be."""
    loss = smoothed_loss(curve, how)
    ended = curve.finished
    whole = normalise_smoothed(curve, loss, how) if ended else np.full(len(loss), np.nan)
    if len(loss) <= len(DRAWN):
        return Line(curve, curve.t_hat, loss, whole, ended)
    first, stop = np.searchsorted(DRAWN, [curve.t_hat[0], curve.t_hat[-1] + ROUNDING])
    at = DRAWN[first:stop]
    return Line(curve, at, to_grid(curve.t_hat, loss, at), to_grid(curve.t_hat, whole, at), ended)


def as_measured(line: Line) -> np.ndarray:
    """Return the line's loss [nats] at its `t_hat`, smoothed just enough to be drawn, and otherwise as logged.

    The wider window of the analysis would bend the steep start of a curve on a logarithmic axis.
    """
    curve = line.curve
    return to_grid(curve.t_hat, Smoothing(window=LIGHT)(curve.loss, curve.t_hat), line.t_hat)


def finished(lines: Iterable[Line]) -> list[Line]:
    """Return the lines that have a normalised curve."""
    return [line for line in lines if line.finished]


def unfinished_words(lines: list[Line], what: str = "left out") -> str:
    """Return a remark that names the runs without a normalised curve, or nothing."""
    names = [
        f"{line.run} ({'diverged' if line.diverged else 'ends'} at {line.t_hat[-1]:.0%})"
        for line in lines
        if not line.finished
    ]
    return f"{what}: {', '.join(names)}" if names else ""


def tidy(panels: dict[str, list[Line]], measured: bool = False) -> pd.DataFrame:
    """Return one row for each drawn point: panel, run, split, its facts, t_hat, tokens, loss_nats, normalised_loss.

    `measured` adds measured_loss_nats (see `as_measured`). Raises FigureError where there is no curve at all.
    """
    parts = [_rows(line, measured).assign(panel=panel) for panel, lines in panels.items() for line in lines]
    if not parts:
        raise FigureError("figure", "no curve was left to draw.", "finish at least one run of its groups")
    table = pd.concat(parts, ignore_index=True)
    return table[["panel", *(name for name in table.columns if name != "panel")]]


def _rows(line: Line, measured: bool) -> pd.DataFrame:
    curve = line.curve
    facts = {name: curve.facts.get(name) for name in FACTS} | {"tpp": curve.tpp, "tau": curve.tau}
    columns = {
        "t_hat": line.t_hat,
        "tokens": line.t_hat * float(curve.facts["tokens_total"]),
        "loss_nats": line.loss,
        "normalised_loss": line.normalised,
    }
    if measured:
        columns["measured_loss_nats"] = as_measured(line)
    table = pd.DataFrame(columns)
    for place, (name, value) in enumerate([("run", line.run), ("split", curve.split), *facts.items()]):
        table.insert(place, name, value)
    return table
