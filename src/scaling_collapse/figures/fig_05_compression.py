"""Fig 5: what a smaller model costs in compute to reach the same loss. From the formula alone, no run is read."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MultipleLocator, NullFormatter, PercentFormatter

from scaling_collapse.figures import style
from scaling_collapse.figures.context import FigureContext
from scaling_collapse.scaling.compression import ALPHA, OPTIMAL_TPP, compute_ratio, parameter_ratio_for

BANDS = (20.0, 80.0, 234.0)  # the tokens per parameter of the Celerity bands (section 5)
TPP_SHOWN = (7.0, 2000.0)


def draw(curves: dict[str, pd.DataFrame], context: FigureContext) -> tuple[Figure, pd.DataFrame]:
    """Return compute over optimal compute against model size and against TPP, and the numbers drawn."""
    data = _compression(np.union1d(np.geomspace(*TPP_SHOWN, 241), BANDS))
    figure = Figure(figsize=(context.width, 2.6), layout="constrained")
    by_size, by_tpp = figure.subplots(1, 2, sharey=True)
    by_size.plot(data.parameter_ratio, data.compute_ratio, color=_blue())
    by_tpp.plot(data.tpp, data.compute_ratio, color=_blue())
    _mark(by_size, data, "parameter_ratio")
    _mark(by_tpp, data, "tpp")
    _finish(by_size, by_tpp)
    style.note(figure, rf"analytic: Eq. 22, 23 with $\alpha$ = {ALPHA:g}, $r$ = {OPTIMAL_TPP:g} TPP; no run is read")
    return figure, data


def _compression(tpp: np.ndarray) -> pd.DataFrame:
    ratio = [parameter_ratio_for(float(value)) for value in tpp]
    compute = [compute_ratio(value) for value in ratio]
    return pd.DataFrame({"tpp": tpp, "parameter_ratio": ratio, "compute_ratio": compute})


def _blue() -> tuple[float, float, float]:
    return style.colours("size", [0, 1, 2])[1]


def _mark(axes: Axes, data: pd.DataFrame, x: str) -> None:
    """Mark the Celerity bands, with TPP, size and cost in words."""
    colour = style.colours("tpp", BANDS)
    for tpp in BANDS:
        point = data[data.tpp == tpp].iloc[0]
        axes.plot(point[x], point.compute_ratio, "o", color=colour[tpp], ms=5, mec="white", mew=0.8, zorder=3)
        offset, align = ((4, 5), "left") if x == "parameter_ratio" else ((-4, 5), "right")
        if x == "tpp" and tpp == OPTIMAL_TPP:  # at the minimum, where the curve lies on both sides
            offset, align = (0, 8), "center"
        words = rf"{tpp:.0f} TPP: {point.compute_ratio:.2f}$\times$"
        if x == "parameter_ratio":
            words += f"\n{point.parameter_ratio:.0%} of the size"
        axes.annotate(
            words,
            (point[x], point.compute_ratio),
            offset,
            textcoords="offset points",
            fontsize=style.TINY,
            ha=align,
            linespacing=1.1,
        ).set_in_layout(False)


def _finish(by_size: Axes, by_tpp: Axes) -> None:
    by_size.set(xlim=(0.2, 1.5), ylim=(0.9, 3.0), ylabel=r"compute at equal loss  $C/C_{\mathrm{opt}}$")
    by_size.set_xlabel(r"size of the model  $k_N = N/N_{\mathrm{opt}}$")
    by_size.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    by_tpp.set(xscale="log", xlim=(7, 1500), xlabel="tokens per parameter (TPP)")
    by_tpp.xaxis.set_major_locator(FixedLocator([10, 20, 80, 234, 1000]))
    by_tpp.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    by_tpp.xaxis.set_minor_formatter(NullFormatter())
    by_size.yaxis.set_major_locator(MultipleLocator(0.5))
    by_size.yaxis.set_major_formatter(FuncFormatter(lambda value, _: rf"{value:g}$\times$"))
    style.letter(by_size, 0, "Smaller models cost more compute")
    style.letter(by_tpp, 1, "The same, by TPP")
