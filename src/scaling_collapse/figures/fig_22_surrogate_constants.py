"""Fig 22: the weight b and exponent q that fit each curve best by itself, against tau, and the laws fitted to all."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

from scaling_collapse.figures import style
from scaling_collapse.figures.context import ALL_RUNS, FigureContext
from scaling_collapse.surrogate.data import curve_set
from scaling_collapse.surrogate.form import Surrogate
from scaling_collapse.surrogate.per_curve import correlations, fit_per_curve
from scaling_collapse.surrogate.study import fit_study

TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)


def draw(curves: dict[str, pd.DataFrame], context: FigureContext) -> tuple[Figure, pd.DataFrame]:
    """Return b and q of each curve of the fitted size with the fitted laws, and the numbers drawn."""
    how = context.normalisation("train")
    study = fit_study(curves[ALL_RUNS], normalisation=how, grid=context.grid, draws=0)
    used = curve_set(curves[ALL_RUNS], "train", study.fit.runs, how, context.grid)
    alone = fit_per_curve(used)
    surrogate, r = study.fit.surrogate, correlations(alone, used)
    data = pd.DataFrame({"run": used.runs, "size": used.sizes, "tau": used.tau, "tpp": used.tpp})
    data = data.assign(b=alone.b, q=alone.q, mae_percent=alone.run_mae_percent)
    data = data.assign(fitted_b=surrogate.b(used.tau, used.tpp), fitted_q=surrogate.q(used.tau, used.tpp))
    figure = Figure(figsize=(context.width, 3.1), layout="constrained")
    row = figure.subplots(1, 2)
    titles = {"b": "weight of the schedule term, $b$", "q": "its exponent, $q$"}
    for index, (axes, (name, title)) in enumerate(zip(row, titles.items(), strict=True)):
        _draw(axes, data, name, surrogate)
        words = ", ".join(f"r({name}, {on}) = {r[f'{name}, {on}']:+.2f}" for on in ("tau", "TPP"))
        style.letter(axes, index, title, words.replace("tau", r"$\tau$").replace("-", "\N{MINUS SIGN}"))
    row[0].legend(loc="upper right")
    law_b = rf"dashed, one law for all: $b$ = {surrogate.b_c:.3g} $\tau^{{{surrogate.b_e:.2f}}}$"
    law_q = rf"$q$ = {surrogate.q_c:.3g} TPP$^{{{surrogate.q_e:.2f}}}$"
    remark = f"{len(data)} curves of {', '.join(study.sizes)}: MAE {data['mae_percent'].mean():.2f}% each by itself, "
    style.note(figure, f"{law_b}, {law_q}", f"{remark}{study.fit.mae_percent:.2f}% with one law for all")
    return figure, data


def _draw(axes: Axes, data: pd.DataFrame, name: str, surrogate: Surrogate) -> None:
    colour_of = style.colours("tpp", [round(float(tpp), 1) for tpp in data["tpp"]])
    low, high = float(data["tau"].min()), float(data["tau"].max())
    tau = np.geomspace(low / 1.2, high * 1.2, 50)
    if name == "b":
        axes.plot(tau, surrogate.b(tau, 1.0), color=style.GREY, lw=1.0, ls=(0, (4, 2)))
    for tpp, rows in data.groupby(data["tpp"].round(1)):
        colour = colour_of[float(tpp)]
        axes.plot(rows["tau"], rows[name], "o", color=colour, ms=4.5, mec="white", mew=0.5, label=f"{tpp:.0f} TPP")
        if name == "q":
            axes.plot(tau, np.full(len(tau), float(surrogate.q(1.0, float(tpp)))), color=colour, lw=0.9, ls=(0, (4, 2)))
    axes.set(xscale="log", yscale="log", xlabel=r"timescale  $\tau$", xlim=(tau[0], tau[-1]))
    axes.xaxis.set_major_locator(FixedLocator([tick for tick in TICKS if tau[0] <= tick <= tau[-1]]))
    axes.yaxis.set_major_locator(FixedLocator(_ticks(data[name])))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


def _ticks(values: pd.Series) -> list[float]:
    """Return 1, 2 and 5 times powers of ten over the range of the values."""
    low, high = np.floor(np.log10(values.min())), np.ceil(np.log10(values.max()))
    return [float(digit * 10.0**power) for power in np.arange(low, high + 1) for digit in (1, 2, 5)]
