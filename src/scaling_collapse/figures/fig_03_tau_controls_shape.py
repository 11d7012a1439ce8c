"""Fig 3: the timescale tau sets the shape of the curve, whether batch, learning rate or weight decay moves it."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from scaling_collapse.curves.grid import to_grid
from scaling_collapse.curves.measures import spread
from scaling_collapse.figures import style
from scaling_collapse.figures.collapse import sweep
from scaling_collapse.figures.columns import Column, draw_columns
from scaling_collapse.figures.context import FigureContext
from scaling_collapse.figures.lines import Line, finished

#: Run group of each way to change tau: its title, and the quantity that the legend states.
COLUMNS = {
    "tau_by_batch": ("batch B varies", "batch_tokens"),
    "tau_by_lr": (r"learning rate $\eta$ varies", "lr_peak"),
    "tau_by_weight_decay": (r"weight decay $\lambda$ varies", "weight_decay"),
}


def draw(curves: dict[str, pd.DataFrame], context: FigureContext) -> tuple[Figure, pd.DataFrame]:
    """Return one sweep of tau through each of its three ingredients, and the curves drawn."""
    columns = {
        group: Column(title, sweep(curves[group], context), "tau", ("size", "tpp", way, "tau"))
        for group, (title, way) in COLUMNS.items()
    }
    lines = [line for column in columns.values() for line in finished(column.family.lines)]
    differences = equal_tau_spreads(lines, context.grid)
    return draw_columns(columns, context, _remark(differences))


def equal_tau_spreads(lines: list[Line], grid: np.ndarray) -> dict[float, float]:
    """Return, for each tau that several runs reach, the spread of their normalised curves [percent] (curves.measures).

    Runs of one tau differ in how they reach it: through batch, learning rate or weight decay.
    """
    distinct = sorted({line.run: line for line in lines}.values(), key=lambda line: line.fact("tau"))
    logs = np.log([line.fact("tau") for line in distinct])
    breaks = np.cumsum(np.diff(logs, prepend=logs[:1]) > np.log(style.SAME_TAU))
    spreads = {}
    for _, group in groupby(zip(breaks, distinct, strict=True), key=lambda pair: pair[0]):
        runs = [line for _, line in group]
        if len(runs) > 1:
            curves_RG = np.array([to_grid(line.t_hat, line.normalised, grid) for line in runs])
            spreads[runs[0].fact("tau")] = spread(curves_RG)
    return spreads


def _remark(spreads: dict[float, float]) -> str:
    if not spreads:
        return ""
    low, high = min(spreads.values()), max(spreads.values())
    return rf"at equal $\tau$ the three ways give curves that spread by {low:.2f}% to {high:.2f}%"
