"""Fig 2: accuracy of published models against training FLOPs, and its companion from our own runs."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from scaling_collapse.errors import FigureError
from scaling_collapse.figures import labels, legend, style
from scaling_collapse.figures.context import ALL_RUNS, FigureContext
from scaling_collapse.scaling.pareto import AccuracyLaw, fit_accuracy, pareto_frontier

TABLE = "models.csv"

#: The models of Fig 2 (section 6) by their names in Table 10. CerebrasGPT-13B has a dot there but no row.
SHOWN = {
    "Gemma-2-2b": "Gemma2-2B",
    "Llama-7b": "Llama-7B",
    "Llama-2-7b-hf": "Llama2-7B",
    "SmolLM2-360M": "SmolLM2-360M",
    "SmolLM2-1.7B": "SmolLM2-1.7B",
    "SmolLM-360M": "SmolLM-360M",
    "SmolLM-1.7B": "SmolLM-1.7B",
    "OLMo-1B-hf": "OLMo-1B",
    "OLMo-7B-hf": "OLMo-7B",
    "OLMo-2-0425-1B": "OLMo2-1B",
    "Zamba2-1.2B": "Zamba2-1.2B",
    "Gemma-3-1b-pt": "Gemma3-1B",
    "BTLM-3b-8k-base": "BTLM-3B",
    "Cerebras-GPT-6.7B": "CerebrasGPT-6.7B",
    "Celerity-900M": "Celerity-900M",
    "Celerity-1.8B": "Celerity-1.8B",
    "Celerity-3.9B": "Celerity-3.9B",
}

#: The largest three, to which the paper fits its law (section 5).
FITTED = ("Celerity-900M", "Celerity-1.8B", "Celerity-3.9B")

UNITS = {"bits_per_byte": "held-out bits per byte", "loss_nats": "held-out loss [nats per token]"}

ACCENT: style.Colour = (0.70, 0.09, 0.17)
MUTED: style.Colour = (0.30, 0.38, 0.48)


def draw(curves: dict[str, pd.DataFrame], context: FigureContext) -> tuple[Figure, pd.DataFrame]:
    """Return accuracy of published models, with frontier and Celerity's fit, beside our bits per byte; and the data."""
    models, law = published(context.table(TABLE))
    ours = own_runs(curves[ALL_RUNS])
    figure = Figure(figsize=(context.width, 3.5), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.75, 1.0])
    _draw_ours(right, ours, context.scale)
    _draw_published(figure, left, models, law)
    return figure, pd.concat([models, ours], ignore_index=True)


def published(table: pd.DataFrame) -> tuple[pd.DataFrame, AccuracyLaw]:
    """Return the models of Fig 2 (columns panel, name, flops, value = accuracy [percent], on_frontier) and the fit.

    Raises FigureError where the table lacks one of them.
    """
    missing = sorted(set(SHOWN) - set(table["name"]))
    if missing:
        raise FigureError(f"data/published/{TABLE}", f"{missing[0]} is missing.", "restore the file from git")
    rows = table[table["name"].isin(SHOWN)]
    models = pd.DataFrame({"panel": "published", "name": rows["name"].map(SHOWN), "run": "", "flops": rows["flops"]})
    models = models.assign(value=rows["average"], unit="accuracy_percent").reset_index(drop=True)
    models["on_frontier"] = models.index.isin(pareto_frontier(models["flops"], models["value"]))
    fitted = models[models["name"].isin(FITTED)]
    return models, fit_accuracy(fitted["flops"], fitted["value"])


def own_runs(frame: pd.DataFrame) -> pd.DataFrame:
    """Return final held-out losses of our finished runs (columns as `published`); less is better.

    They are in bits per byte, or in nats per token where the corpus is no text and has no bytes. Raises FigureError
    where no finished run has a held-out loss.
    """
    rows = frame[(frame["split"] == "validation") & (frame["status"] != "diverged")]
    last = rows.sort_values("step").groupby("run", sort=True).tail(1)
    if last.empty:
        raise FigureError("figure fig_02_accuracy_against_flops", "no finished run has a held-out loss.", "train one")
    unit = "bits_per_byte" if last["bits_per_byte"].notna().all() else "loss_nats"
    value = last["bits_per_byte" if unit == "bits_per_byte" else "loss"]
    ours = pd.DataFrame({"panel": "ours", "name": last["size"], "run": last["run"], "flops": last["flops_total"]})
    ours = ours.assign(value=value, unit=unit, size_params=last["size_params"])
    ours = ours.sort_values(["size_params", "flops", "value"]).reset_index(drop=True)
    ours["on_frontier"] = ours.index.isin(pareto_frontier(ours["flops"], -ours["value"]))
    return ours


def _draw_published(figure: Figure, axes: Axes, models: pd.DataFrame, law: AccuracyLaw) -> None:
    celerity = models["name"].str.startswith("Celerity")
    axes.set(xscale="log", xlim=(6.5e20, 8e23), ylim=(50.6, 70.8))
    flops = np.geomspace(1e21, 8e23, 400)
    words = rf"fit to Celerity: $100 - (C/{_power(law.scale)})^{{-{law.exponent:.3f}}}$"
    axes.plot(flops, law(flops), color=ACCENT, lw=1.1, ls=(0, (5, 2)), label=words)
    best = _draw_frontier(axes, models, "frontier of these models")
    for rows, marker, colour, size in ((~celerity, "o", MUTED, 4.5), (celerity, "D", ACCENT, 5.5)):
        points = models[rows]
        axes.plot(points["flops"], points["value"], marker, color=colour, ms=size, mec="white", mew=0.6)
    axes.set(xlabel="training FLOPs", ylabel="mean accuracy on 7 tasks [%]")
    axes.legend(loc="lower right")
    style.letter(axes, 0, "published models (Table 10)")
    along = np.interp(np.log(flops), np.log(best["flops"]), best["value"], left=np.nan, right=np.nan)
    lines = [pair for pair in zip([*flops, *flops], [*law(flops), *along], strict=True) if np.isfinite(pair[1])]
    spots = list(zip(models["flops"], models["value"], strict=True))
    colours = [ACCENT if is_celerity else style.INK_RGB for is_celerity in celerity]
    labels.add(figure, axes, spots, models["name"].tolist(), colours, lines)


def _draw_ours(axes: Axes, ours: pd.DataFrame, scale: str) -> None:
    axes.set(xscale="log")
    _draw_frontier(axes, ours, "frontier")
    colour = style.colours("size", ours["size_params"])
    for size in colour:
        points = ours[ours["size_params"] == size]
        axes.plot(points["flops"], points["value"], "o", color=colour[size], ms=4.2, mec="white", mew=0.4)
    sizes = ours.drop_duplicates("size_params")
    keys = [legend.Key(colour[size], (name,)) for size, name in zip(sizes["size_params"], sizes["name"], strict=True)]
    legend.add(axes, legend.Table("", ("N",), tuple(keys)))
    axes.yaxis.set_major_locator(MaxNLocator(6))
    axes.legend(loc="lower left")
    axes.set(xlabel="training FLOPs", ylabel=UNITS[ours["unit"].iloc[0]])
    style.letter(axes, 1, f"our runs ({scale})")


def _draw_frontier(axes: Axes, points: pd.DataFrame, label: str) -> pd.DataFrame:
    best = points[points["on_frontier"]].sort_values("flops")
    axes.plot(best["flops"], best["value"], color="#9aa5b1", lw=1.4, zorder=1, label=label)
    return best


def _power(value: float) -> str:
    mantissa, exponent = f"{value:.2e}".split("e")
    return rf"{mantissa} \times 10^{{{int(exponent)}}}"
