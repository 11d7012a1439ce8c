"""The curves: as they were logged, and divided by their final loss."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from scaling_collapse.diagnose.alarm import Alarm
from scaling_collapse.diagnose.seen import seen
from scaling_collapse.figures import legend, panels, style
from scaling_collapse.figures.alarms import draw_watched, mark_onsets, show_faults
from scaling_collapse.figures.collapse import Family
from scaling_collapse.figures.lines import Line
from scaling_collapse.report.material import Material
from scaling_collapse.report.members import Member
from scaling_collapse.report.parts import Block, Picture, Prose, Section
from scaling_collapse.report.svg import inline

FRACTION = "fraction of training"
NORMALISED = "loss / final loss"
IDEA = (
    "Runs of different sizes that share tokens per parameter, tau and schedule have one curve once each is divided by "
    "its own final loss. A run that leaves that curve differs in its settings, or something happened to it."
)


def section(material: Material) -> Section:
    """Return the pictures of a family's curves, or the one of a single run."""
    if not material.is_family:
        return Section("curves", "Its curve", (watched(material.members[0], material.alarms, "curve"),))
    blocks: list[Block] = [Prose(IDEA), _as_logged(material)]
    if material.collapse is not None:
        blocks.append(_normalised(material, material.collapse))
    return Section("curves", "Their curves", tuple(blocks))


def watched(member: Member, alarms: dict[int, Alarm], name: str) -> Picture:
    """Return the picture of one run as the alarm saw it; `name` is its place on the page."""
    onsets = [alarm.onset_fraction for alarm in alarms.values() if alarm.onset_fraction is not None]
    first = min(onsets, default=None)
    with style.style():
        found = seen(member.curve, member.reference, first)
        source = "" if member.reference is None else member.reference.source
        figure = draw_watched(found, alarms, member.validation, source)
        svg = inline(figure, name, f"Losses of run {member.run} by step")
    caption = f"{member.run}: losses by step, each point the mean of up to 0.5% of training."
    if member.compared_with:
        caption += f" Reference: {' and '.join(member.compared_with)}, averaged."
    if alarms:
        caption += " Numbered lines: where a fault most likely began, shaded its 90% interval."
    if np.isfinite(found.residual).any():
        caption += (
            " Below, how far the loss lies above what the reference projects, in percent: points in grey, black their"
            " mean over 5% of training. But for noise, nine of ten healthy runs lie in the grey band at any one time."
        )
    return Picture(svg, caption, anchor=name)


def _as_logged(material: Material) -> Picture:
    lines, palette = material.lines, material.palette
    known = all(np.isfinite(float(line.curve.facts["tokens_total"])) for line in lines)
    across = panels.tokens if known else panels.steps
    with style.style():
        figure = Figure(figsize=(style.WIDTH, 3.3), layout="constrained")
        axes = figure.subplots()
        panels.draw_measured(axes, lines, palette.colour_of, across)
        panels.limit_measured([axes], lines, across)
        show_faults(axes, lines)
        mark_onsets(axes, lines, material.alarms, across)
        if palette.key is not None:
            legend.add(axes, palette.key)
        axes.set_ylabel("loss [nats]")
        svg = inline(figure, "as-logged", f"Losses of {len(lines)} runs as logged")
    caption = f"Losses as logged, lightly smoothed. Colours: {palette.words} (see also the table of runs)."
    if any(not line.finished for line in lines):
        caption += " A cross ends a run that did not finish."
    if material.alarms:
        caption += " Red circles: where a fault most likely began, numbered as under alarms."
    return Picture(svg, caption, _key(material, lines))


def _normalised(material: Material, family: Family) -> Picture:
    palette = material.palette
    with style.style():
        figure = Figure(figsize=(style.WIDTH, 4.8), layout="constrained")
        rows = figure.subplots(2, 1, sharex=True, height_ratios=[1.9, 1.0])
        panels.draw_band(rows[0], family)
        panels.draw_normalised(rows[0], family.lines, palette.colour_of)
        rows[0].plot(family.grid, family.mean, color=style.INK, lw=0.8, ls=(0, (4, 2)), zorder=3)
        panels.draw_deviation(rows[1], family, palette.colour_of)
        panels.limit_normalised(rows[:1], family.lines)
        panels.limit_deviation(rows[1:], [family])
        if palette.key is not None:
            legend.add(rows[0], palette.key)
        rows[0].set_ylabel(NORMALISED)
        rows[1].set_ylabel("minus the mean")
        rows[1].set_xlabel(FRACTION)
        figure.align_ylabels(rows)
        svg = inline(figure, "normalised", f"Normalised losses of {len(family.lines)} runs and their distance")
    caption = (
        "Above: each loss divided by the run's own final loss; dashed the mean of the runs compared, grey one standard"
        " deviation around it. Below: how far each run lies from the mean, in percent of its final loss. Runs that"
        " collapse lie within the noise of each other; thin lines are repeats with other seeds."
    )
    return Picture(svg, caption, _key(material, family.lines))


def _key(material: Material, lines: Sequence[Line]) -> tuple[tuple[str, str], ...]:
    """Return the names of runs that have a colour of their own, with it."""
    palette = material.palette
    return tuple((line.run, palette.hexadecimal(line.run)) for line in lines) if palette.by_run else ()
