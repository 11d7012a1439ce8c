"""How all figures look: print sizes, fonts, colours, and the words on axes and in legends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from textwrap import wrap
from typing import Any, Literal

import matplotlib
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

WIDTH = 7.0  # inches: the text width of a page, so that 9 pt in the figure is 9 pt on paper
TEXT, SMALL, TINY = 9.0, 8.0, 7.0  # points
INK, GREY, FAINT = "#222222", "#6b6b6b", "#d9d9d9"

#: Timescales that differ by less than this factor are the same setting: steps are whole, so tau is rounded.
SAME_TAU = 1.1

WARNING = "#b2182b"
INK_RGB = (0.13, 0.13, 0.13)

T_HAT = r"training fraction  $\hat t = t/T$"
NORMALISED_LOSS = r"normalised loss  $\ell = L(\hat t)/L(T)$"

Colour = tuple[float, float, float]
Quantity = Literal["size", "tau", "tpp", "batch", "lr", "weight_decay"]

#: Sequential maps that stay ordered for colour-blind readers and in grey, and the part of each that is dark enough.
_MAPS: dict[Quantity, tuple[str, float, float]] = {
    "size": ("viridis", 0.86, 0.02),
    "tpp": ("mako", 0.80, 0.15),
    "tau": ("plasma", 0.05, 0.86),
    "batch": ("plasma", 0.05, 0.86),
    "lr": ("plasma", 0.86, 0.05),
    "weight_decay": ("plasma", 0.86, 0.05),
}

_SETTINGS = {
    "font.family": "DejaVu Sans",
    "font.size": TEXT,
    "axes.titlesize": TEXT,
    "axes.labelsize": TEXT,
    "axes.titlelocation": "left",
    "axes.titlepad": 5.0,
    "axes.labelpad": 3.0,
    "axes.linewidth": 0.7,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#ececec",
    "grid.linewidth": 0.6,
    "text.color": INK,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "xtick.major.size": 3.0,
    "ytick.major.size": 3.0,
    "xtick.bottom": True,
    "ytick.left": True,
    "lines.linewidth": 1.3,
    "lines.solid_capstyle": "round",
    "legend.fontsize": TINY,
    "legend.title_fontsize": TINY,
    "legend.frameon": False,
    "legend.handlelength": 1.2,
    "legend.handletextpad": 0.5,
    "legend.labelspacing": 0.25,
    "legend.borderaxespad": 0.2,
    "legend.columnspacing": 1.0,
    "figure.dpi": 100,
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.w_pad": 0.04,
    "figure.constrained_layout.h_pad": 0.04,
    "savefig.dpi": 200,
    "savefig.bbox": None,
    "pdf.fonttype": 42,
    "text.hinting": "no_hinting",  # widths are then the same on screen, in print and in legends
}


@contextmanager
def style(dpi: int = 200) -> Iterator[None]:
    """Draw and save inside: the figures' settings, whatever the user's matplotlibrc says; no window is ever opened."""
    defaults: Any = {name: value for name, value in matplotlib.rcParamsDefault.items() if name != "backend"}
    ticks = sns.axes_style("ticks")
    with matplotlib.rc_context(defaults | ticks | _SETTINGS | {"savefig.dpi": dpi}):
        yield


def colours(quantity: Quantity, values: Iterable[float]) -> dict[float, Colour]:
    """Return a colour for each distinct value, in the values' order along the quantity's sequential map.

    Timescales closer than SAME_TAU are one setting, and get one colour.
    """
    distinct = sorted(set(values))
    apart = SAME_TAU if quantity == "tau" else 1.0
    ranks = [0]
    for low, high in pairwise(distinct):
        ranks.append(ranks[-1] + (high > apart * low))
    name, start, stop = _MAPS[quantity]
    colour_map = sns.color_palette(name, as_cmap=True)
    last = ranks[-1]
    where = [start + (stop - start) * (rank / last if last else 0.5) for rank in ranks]
    return {value: colour_map(x)[:3] for value, x in zip(distinct, where, strict=False)}


def number(value: float) -> str:
    """Write a number as people say it: 132k, 1.8B, 0.053, 1280, 4.1e13."""
    if value >= 1e13 or 0 < value < 1e-3:
        return f"{value:.2g}".replace("e+", "e").replace("e-0", "e-")
    for limit, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e4, "k")):
        if value >= limit:
            return f"{value / limit if letter != 'k' else value / 1e3:.3g}{letter}"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def signed(value: float) -> str:
    """Write a number with its sign, as wide for minus as for plus."""
    return f"{value:+g}".replace("-", "\N{MINUS SIGN}")


def plain(words: str) -> str:
    """Return words of others, as the names of runs, so that a picture shows them as they are: one line, no formulas."""
    printable = "".join(letter if letter.isprintable() else " " for letter in words)
    return " ".join(printable.split()).replace("$", r"\$")


def letter(axes: Axes, index: int, title: str, numbers: str = "") -> None:
    """Give a panel its letter and title, and below them its numbers in bold."""
    label = chr(ord("a") + index)
    if not numbers:
        axes.set_title(rf"$\bf{{{label}}}$  {title}", loc="left")
        return
    axes.set_title(numbers, loc="left", fontsize=SMALL, fontweight="bold")
    axes.annotate(
        rf"$\bf{{{label}}}$  {title}",
        (0, 1),
        (0, 7 + SMALL * 1.25),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=TEXT,
        va="bottom",
        annotation_clip=False,
    )


def note(figure: Figure, *remarks: str) -> None:
    """Write the remarks that are not empty in small grey letters below the panels, at the right, wrapped."""
    letters = int(figure.get_figwidth() * 72 / (0.56 * TINY))  # DejaVu Sans is 0.56 em wide on average
    lines = [line for remark in remarks if remark for line in wrap(remark, letters)]
    if lines:
        figure.supxlabel("\n".join(lines), x=0.995, ha="right", fontsize=TINY, color=GREY)


def stamp(figure: Figure, words: str) -> None:
    """Write a notice on a picture that claims nothing: in a band across its top, and large and faint behind it."""
    figure.suptitle(words, fontsize=SMALL, color="white", fontweight="bold", backgroundcolor=WARNING)
    figure.text(
        0.5, 0.5, "no claims", fontsize=60, rotation=25, color=WARNING, alpha=0.10, ha="center", va="center"
    ).set_in_layout(False)
