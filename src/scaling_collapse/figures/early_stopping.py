"""The layouts of Fig 9 and 23 (what stopping early costs) and of Fig 24 and 25 (what it errs), for two sweeps each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from scaling_collapse.curves.measures import PERCENT
from scaling_collapse.figures import legend, panels, style
from scaling_collapse.figures.context import FigureContext
from scaling_collapse.figures.lines import finished, lines_of, unfinished_words
from scaling_collapse.figures.sweeps import RULES, Sweep, measure, seed_noise

Corner = Literal["upper right", "lower left"]

STOP_POINT = r"stop point  $\hat t = t/T$"
COLOURS = {"random": "#8a8a8a", "current_best": "#2c6fbb", "predicted_best": style.WARNING}
STROKES = {"random": (0, (4, 2)), "current_best": "-", "predicted_best": "-"}
LEGEND = ("size", "tpp", "batch_tokens", "weight_decay", "tau")

#: From where on the predicted losses are shown: before, the part is steep and short.
SHOWN_FROM = 0.2


def draw_costs(
    groups: Sequence[str], fact: str, curves: Mapping[str, pd.DataFrame], context: FigureContext
) -> tuple[Figure, pd.DataFrame]:
    """Return a figure with a column a sweep, coloured by `fact`, and its data.

    Above: what each rule costs; below: each run's predicted final loss against its true one.
    """
    sweeps = [measure(group, curves, context) for group in groups]
    noise = seed_noise(curves, context)
    figure = Figure(figsize=(context.width, 5.2), layout="constrained")
    rows = figure.subplots(2, len(sweeps), sharex=True, squeeze=False, height_ratios=[1.0, 1.3])
    lines = {sweep.group: lines_of(curves[sweep.group], context) for sweep in sweeps}
    for index, sweep in enumerate(sweeps):
        upper, lower = rows[:, index]
        colour_of = panels.colours_by(fact, lines[sweep.group])
        _draw_rules(upper, sweep, "regret_percent")
        if np.isfinite(noise):
            upper.axhspan(0, noise, color=style.FAINT, lw=0, zorder=0.5)
        _draw_predictions(lower, sweep, colour_of)
        legend.add(lower, legend.table(finished(lines[sweep.group]), colour_of, LEGEND, keep=fact))
        style.letter(upper, index, sweep.title, f"templates: {sweep.templates.words}")
    _finish_costs(rows, sweeps, noise)
    style.note(figure, unfinished_words([line for own in lines.values() for line in own]))
    return figure, _data(sweeps, noise)


def draw_errors(
    groups: Sequence[str], curves: Mapping[str, pd.DataFrame], context: FigureContext
) -> tuple[Figure, pd.DataFrame]:
    """Return a figure with a column a sweep, and its data: how far each rule's losses are from the final ones."""
    sweeps = [measure(group, curves, context) for group in groups]
    figure = Figure(figsize=(context.width, 2.9), layout="constrained")
    row = figure.subplots(1, len(sweeps), sharey=True, squeeze=False)[0]
    for index, (axes, sweep) in enumerate(zip(row, sweeps, strict=True)):
        _draw_spread(axes, sweep)
        _draw_rules(axes, sweep, "error_percent", ("current_best", "predicted_best"))
        axes.set(yscale="log", xlabel=STOP_POINT)
        panels.fraction_axis(axes)
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}%"))
        style.letter(axes, index, sweep.title, f"templates: {sweep.templates.words}")
    row[0].set_ylabel("|loss $-$ final loss| / final loss")
    row[0].set_ylim(0.1, 60)
    words = {"current_best": "current loss", "predicted_best": "predicted final loss"}
    row[0].fill_between([], [], color=COLOURS["predicted_best"], alpha=0.15, lw=0, label="up to the worst run")
    _name_rules(row[0], words, loc="lower left")
    return figure, _data(sweeps, float("nan"))


def _draw_rules(axes: Axes, sweep: Sweep, column: str, rules: Sequence[str] = tuple(RULES)) -> None:
    for rule in rules:
        rows = sweep.rules[sweep.rules["rule"] == rule]
        last = rule == "predicted_best"
        axes.plot(
            rows["progress"],
            rows[column],
            color=COLOURS[rule],
            ls=STROKES[rule],
            lw=1.5,
            marker="o" if last else None,
            ms=2.6,
            zorder=3 if last else 2,
            clip_on=False,
        )


def _draw_spread(axes: Axes, sweep: Sweep) -> None:
    """Shade from the mean to the worst run of the errors of the predicted final loss."""
    rows = sweep.predictions.dropna(subset=["predicted_final_loss"])
    size = PERCENT * (rows["predicted_final_loss"] / rows["true_final_loss"] - 1).abs()
    ends = size.groupby(rows["progress"]).agg(["mean", "max"])
    axes.fill_between(ends.index, ends["mean"], ends["max"], color=COLOURS["predicted_best"], alpha=0.15, lw=0)


def _draw_predictions(axes: Axes, sweep: Sweep, colour_of: panels.Colours) -> None:
    """Draw each run's predicted final loss against the stop point; its true one is the dot at the end."""
    for run, rows in sweep.predictions.groupby("run", sort=False):
        true = float(rows["true_final_loss"].iloc[0])
        axes.plot([*rows["progress"], 1.0], [*rows["predicted_final_loss"], true], color=colour_of[str(run)], lw=1.2)
        axes.plot(1.0, true, "o", color=colour_of[str(run)], ms=4.5, clip_on=False, zorder=4)


def _finish_costs(rows: np.ndarray, sweeps: Sequence[Sweep], noise: float) -> None:
    top = max(float(sweep.rules["regret_percent"].max()) for sweep in sweeps)
    for axes in rows[0]:
        axes.set_ylim(-0.04 * top, 1.6 * top)  # room for the legend
        axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}%"))
    for axes in rows[0][1:]:
        axes.tick_params(labelleft=False)
    for axes, sweep in zip(rows[1], sweeps, strict=True):
        panels.fraction_axis(axes)
        axes.set_xlabel(STOP_POINT)
        shown = sweep.predictions[sweep.predictions["progress"] >= SHOWN_FROM]
        losses = pd.concat([shown["predicted_final_loss"], shown["true_final_loss"]])
        low, high = float(losses.min()), float(losses.max())
        axes.set_ylim(low - 0.06 * (high - low), high + 0.75 * (high - low))  # room for the legend
    rows[0, 0].set_ylabel("final loss of the choice\nabove the best")
    rows[1, 0].set_ylabel("predicted final loss [nats]")
    _name_rules(
        rows[0, -1],
        RULES,
        loc="upper right",
        band=f"standard deviation over seeds, {noise:.2f}%" if np.isfinite(noise) else "",
    )


def _name_rules(axes: Axes, words: Mapping[str, str], loc: Corner, band: str = "") -> None:
    for rule, text in words.items():
        mark = "o" if rule == "predicted_best" else None
        axes.plot([], [], color=COLOURS[rule], ls=STROKES[rule], lw=1.5, marker=mark, ms=2.6, label=text)
    if band:
        axes.fill_between([], [], color=style.FAINT, lw=0, label=band)
    axes.legend(loc=loc)


def _data(sweeps: Sequence[Sweep], noise: float) -> pd.DataFrame:
    """Return both tables of all sweeps, told apart by column `kind`."""
    rules = pd.concat([sweep.rules.assign(templates=sweep.templates.words) for sweep in sweeps])
    runs = pd.concat([sweep.predictions for sweep in sweeps])
    both = pd.concat([rules.assign(kind="rule", seed_deviation_percent=noise), runs.assign(kind="run")])
    return both[["panel", "kind", *(name for name in both.columns if name not in ("panel", "kind"))]]
