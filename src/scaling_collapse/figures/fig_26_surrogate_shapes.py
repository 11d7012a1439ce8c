"""Fig 26: shapes of the surrogate at many tokens per parameter, by three ways to set the timescale. No run is read."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from scaling_collapse.config.recipe import Schedule
from scaling_collapse.figures import panels, style
from scaling_collapse.figures.context import FigureContext
from scaling_collapse.optim.laws import TAU_POWER_LINES
from scaling_collapse.surrogate.form import PAPER
from scaling_collapse.surrogate.published import PUBLISHED, TPP_RANGE
from scaling_collapse.surrogate.schedule import rates_of

#: The paper's range of TPP, and its constant timescale: the best at 20 TPP by its law (section 3).
TPP = tuple(float(value) for value in (100, 300, 1000, 3000, 10000))
TAU, TUNED_AT = 0.22, 20.0

#: How tau follows from TPP: batch, rate and decay kept as they are right at 20 TPP (tau falls as 1/D); and two others.
WAYS: dict[str, tuple[str, Callable[[float], float]]] = {
    "fixed_hyperparameters": (r"fixed B, $\eta$, $\lambda$", lambda tpp: TAU * TUNED_AT / tpp),
    "fixed_tau": (rf"$\tau$ = {TAU}", lambda tpp: TAU),
    "tau_law": (r"$\tau$ by the TPP law", TAU_POWER_LINES),
}

#: From the end of warm-up on; the surrogate is fitted from t_hat = 0.2 on (section 2).
T_HAT = np.linspace(0.1, 1.0, 361)


def draw(curves: dict[str, pd.DataFrame], context: FigureContext) -> tuple[Figure, pd.DataFrame]:
    """Return the surrogate's curves with the published constants, and the numbers drawn."""
    surrogate, rates = PUBLISHED[PAPER, "train"].surrogate, rates_of(Schedule())
    data = pd.concat(
        [
            pd.DataFrame(
                {
                    "panel": way,
                    "tpp": tpp,
                    "tau": tau_of(tpp),
                    "t_hat": T_HAT,
                    "normalised_loss": surrogate.evaluate(T_HAT, tau_of(tpp), tpp, rates),
                }
            )
            for way, (_, tau_of) in WAYS.items()
            for tpp in TPP
        ],
        ignore_index=True,
    )
    figure = Figure(figsize=(context.width, 2.9), layout="constrained")
    row = figure.subplots(1, len(WAYS), sharey=True)
    colour_of = style.colours("tpp", TPP)
    for index, (axes, (way, (words, tau_of))) in enumerate(zip(row, WAYS.items(), strict=True)):
        for tpp in TPP:
            rows = data[(data["panel"] == way) & (data["tpp"] == tpp)]
            label = f"{tpp:,.0f} TPP, " + rf"$\tau$ = {tau_of(tpp):.2g}"
            axes.plot(rows["t_hat"], rows["normalised_loss"], color=colour_of[tpp], label=label)
        panels.fraction_axis(axes)
        axes.set_xlabel(style.T_HAT)
        axes.axhline(1, color=style.GREY, lw=0.6, ls=(0, (2, 2)), zorder=0)
        axes.legend(loc="upper right", borderaxespad=0)
        style.letter(axes, index, words)
    highest = float(data["normalised_loss"].max())
    row[0].set_ylim(1 - 0.06 * (highest - 1), 1 + 1.3 * (highest - 1))  # room for the legends
    row[0].set_ylabel(style.NORMALISED_LOSS)
    low, high = TPP_RANGE
    style.note(
        figure,
        f"analytic, with the constants of scale cpu, fitted at {low:g} to {high:g} TPP: beyond is extrapolation",
    )
    return figure, data
