"""The headline: a family on one curve, beside the same sizes mis-scaled in two common ways (Fig 6 left, Fig 1 left)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from scaling_collapse.figures import legend, panels, style
from scaling_collapse.figures.collapse import family
from scaling_collapse.figures.context import FigureContext
from scaling_collapse.figures.lines import tidy, unfinished_words

#: Run group of each column, and what it is called on the picture.
COLUMNS = {
    "celerity_20tpp": r"TPP and $\tau$ held fixed",
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
        raw, normalised, deviation = rows[:, index]
        panels.draw_raw(raw, member.lines, colour_of, x="tokens")
        panels.draw_band(normalised, member)
        panels.draw_normalised(normalised, member.lines, colour_of)
        panels.draw_deviation(deviation, member, colour_of)
        legend.add(normalised, legend.table(member.lines, colour_of, ("size", "tpp", "tau"), keep="size"))
        style.letter(raw, index, COLUMNS[group])
        normalised.set_title(member.words(), fontsize=style.SMALL, fontweight="bold")
    panels.limit_raw(rows[0], lines)
    panels.limit_normalised(rows[1], lines)
    panels.limit_deviation(rows[2], families.values())
    panels.share_labels(rows[1:], style.T_HAT, [style.NORMALISED_LOSS, panels.DEVIATION])
    panels.label_raw(rows[0])
    figure.align_ylabels(rows[:, 0])
    style.note(figure, unfinished_words(lines, "not normalised"))
    return figure, tidy({group: member.lines for group, member in families.items()})
