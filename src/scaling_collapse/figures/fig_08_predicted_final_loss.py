"""Fig 8: curves of a larger size under five weight decays, predicted by the surrogate of smaller ones; final losses."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from scaling_collapse.curves.grid import to_grid
from scaling_collapse.curves.measures import PERCENT
from scaling_collapse.figures import legend, panels, style
from scaling_collapse.figures.context import FigureContext
from scaling_collapse.figures.lines import Line, finished, lines_of, unfinished_words
from scaling_collapse.figures.sweeps import pool_of, predictions_of, settings_of
from scaling_collapse.predict.sweep_templates import curves_of_surrogate, fit_outside, sweep_templates
from scaling_collapse.predict.template import Template
from scaling_collapse.surrogate.form import FREE_DECAY, PAPER

SHOWN = "weight_decay_sweep_large"
FORMS = {"paper": (PAPER, "the paper's form"), "free_decay": (FREE_DECAY, r"ours: $m$, $\epsilon_2$ fitted too")}

#: Final losses are predicted from these fractions of training.
STOPS = (0.2, 0.3, 0.5)
MARKERS = dict(zip(STOPS, ("v", "s", "o"), strict=True))


def draw(curves: dict[str, pd.DataFrame], context: FigureContext) -> tuple[Figure, pd.DataFrame]:
    """Return true and predicted curves with two forms of the surrogate, predicted final losses, and the data."""
    pool, settings = pool_of(curves), settings_of(context, curves[SHOWN])
    every = lines_of(curves[SHOWN], context)
    lines, colour_of = finished(every), panels.colours_by("tau", every)
    figure = Figure(figsize=(context.width, 4.5), layout="constrained")
    grid = figure.add_gridspec(2, 3, height_ratios=[1.9, 1.0])
    upper = [figure.add_subplot(grid[0, 0])]
    upper.append(figure.add_subplot(grid[0, 1], sharey=upper[0]))
    lower = [figure.add_subplot(grid[1, 0])]
    lower.append(figure.add_subplot(grid[1, 1], sharey=lower[0]))
    parts = []
    for index, (name, (form, words)) in enumerate(FORMS.items()):
        fit, used = fit_outside(curves[SHOWN], pool, form=form, normalisation=settings.normalisation)
        shapes = curves_of_surrogate(curves[SHOWN], fit)
        data = _curves(lines, shapes, context.grid).assign(panel=name)
        parts.append(data)
        _draw_curves(upper[index], lower[index], data, colour_of)
        style.letter(upper[index], index, words, f"MAE {data['error_percent'].abs().mean():.2f}%")
    templates = sweep_templates(curves[SHOWN], pool, normalisation=settings.normalisation)
    losses = predictions_of(SHOWN, curves, templates, STOPS, settings).assign(panel="final loss")
    last = figure.add_subplot(grid[:, 2])
    _draw_losses(last, losses, colour_of)
    style.letter(last, 2, "final loss", " ")
    legend.add(upper[0], legend.table(lines, colour_of, ("size", "tpp", "tau", "weight_decay"), keep="tau"))
    _finish(upper, lower, lines)
    fitted = f"surrogate fitted to {len(used.runs)} runs of {', '.join(dict.fromkeys(used.sizes))}"
    style.note(figure, f"a, b: solid true, dashed {fitted}; c: templates {templates.words}", unfinished_words(every))
    return figure, pd.concat([*parts, losses], ignore_index=True)


def _curves(lines: list[Line], shapes: Mapping[str, Template], grid: np.ndarray) -> pd.DataFrame:
    """Return true and predicted l of each run on the grid."""
    rows = []
    for line in lines:
        true, predicted = to_grid(line.t_hat, line.normalised, grid), shapes[line.run].at(grid)
        columns = {"run": line.run, "tau": line.fact("tau"), "t_hat": grid, "normalised_loss": true}
        columns |= {"predicted_normalised_loss": predicted, "error_percent": PERCENT * (predicted - true)}
        rows.append(pd.DataFrame(columns))
    return pd.concat(rows, ignore_index=True)


def _draw_curves(upper: Axes, lower: Axes, data: pd.DataFrame, colour_of: panels.Colours) -> None:
    for run, rows in data.groupby("run", sort=False):
        colour = colour_of[str(run)]
        upper.plot(rows["t_hat"], rows["normalised_loss"], color=colour, lw=1.1)
        upper.plot(rows["t_hat"], rows["predicted_normalised_loss"], color=colour, lw=1.3, ls=(0, (3, 1.5)))
        lower.plot(rows["t_hat"], rows["error_percent"], color=colour, lw=1.1)
    lower.axhline(0, color=style.GREY, lw=0.6, zorder=0.6)


def _draw_losses(axes: Axes, losses: pd.DataFrame, colour_of: panels.Colours) -> None:
    """Draw true final losses, and those predicted from each stop point, against tau."""
    whole = losses[losses["progress"] == STOPS[0]].sort_values("tau")
    axes.plot(whole["tau"], whole["true_final_loss"], color=style.INK, lw=1.0, marker="_", ms=9, mew=1.6, label="true")
    for stop, mark in MARKERS.items():
        rows = losses[losses["progress"] == stop]
        axes.plot([], [], mark, color=style.GREY, mfc="none", ms=4.5, ls="none", label=f"from {stop:.0%}")
        for _, row in rows.iterrows():
            colour = colour_of[row["run"]]
            axes.plot(row["tau"], row["predicted_final_loss"], mark, color=colour, mfc="none", ms=4.5)
    axes.set(xscale="log", xlabel=r"timescale  $\tau$", ylabel="final loss [nats]")
    axes.set_xticks(sorted(whole["tau"]), [f"{tau:.2g}" for tau in sorted(whole["tau"])])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.minorticks_off()
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.legend(loc="upper right")


def _finish(upper: list[Axes], lower: list[Axes], lines: list[Line]) -> None:
    panels.limit_normalised(upper, lines)
    for axes in (*upper, *lower):
        panels.fraction_axis(axes)
    for axes in upper:
        axes.tick_params(labelbottom=False)
    for axes in (upper[1], lower[1]):
        axes.tick_params(labelleft=False)
    for axes in lower:
        axes.set_xlabel(style.T_HAT)
        axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: style.signed(value) + "%" if value else "0"))
    upper[0].set_ylabel(style.NORMALISED_LOSS)
    lower[0].set_ylabel(r"predicted $-$ true $\ell$")
