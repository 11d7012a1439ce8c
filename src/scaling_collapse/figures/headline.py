"""The headline: a family on one curve, beside the same sizes mis-scaled in two common ways (Fig 6 left, Fig 1 left)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from scaling_collapse.figures import legend, panels, style
from scaling_collapse.figures.collapse import Family, family
from scaling_collapse.figures.context import FigureContext
from scaling_collapse.figures.lines import tidy, unfinished_words

#: Run group of each column, and what it is called on the picture.
COLLAPSED = "celerity_20tpp"
COLUMNS = {
    COLLAPSED: r"TPP and $\tau$ held fixed",
    "fixed_weight_decay": "one weight decay for all",
    "equal_tokens": "equal tokens for all",
}


def draw(curves: dict[str, pd.DataFrame], context: FigureContext) -> tuple[Figure, pd.DataFrame]:
    """Return three columns (losses as measured; normalised; deviation from the mean), and the curves drawn."""
    families = {group: family(curves[group], context) for group in COLUMNS}
    lines = [line for f in families.values() for line in f.lines]
    colour_of = panels.colours_by("size_params", lines)
    figure = Figure(figsize=(context.width, 5.6), layout="constrained")
    rows = figure.subplots(3, len(COLUMNS), sharey="row", height_ratios=[1.0, 1.55, 0.85])
    for index, (group, member) in enumerate(families.items()):
        measured, normalised, deviation = rows[:, index]
        panels.draw_measured(measured, member.lines, colour_of)
        panels.draw_band(normalised, member)
        panels.draw_normalised(normalised, member.lines, colour_of)
        panels.draw_deviation(deviation, member, colour_of)
        legend.add(normalised, legend.table(member.lines, colour_of, ("size", "tpp", "tau"), keep="size"))
        style.letter(measured, index, COLUMNS[group])
        normalised.set_title(_words(member, families[COLLAPSED]), fontsize=style.SMALL, fontweight="bold")
    panels.limit_measured(rows[0], lines)
    panels.limit_normalised(rows[1], lines)
    panels.limit_deviation(rows[2], families.values())
    panels.share_labels(rows[1:], style.T_HAT, [style.NORMALISED_LOSS, panels.DEVIATION])
    rows[0, 0].set_ylabel("loss [nats]")
    figure.align_ylabels(rows[:, 0])
    style.note(figure, unfinished_words(lines, "not normalised"))
    return figure, tidy({group: member.lines for group, member in families.items()}, measured=True)


def _words(member: Family, collapsed: Family) -> str:
    """Return the spread, beside the noise for the family that collapses, and as a multiple of its for the others."""
    if member is collapsed or member.summary is None or collapsed.summary is None:
        return member.words()
    spread = member.summary.spread_percent
    times = rf"{spread / collapsed.summary.spread_percent:.1f}$\times$"
    return f"spread {spread:.2f}% ({times} that of a)"
