"""A report on runs: its sections in their order."""

from __future__ import annotations

from collections.abc import Callable

from scaling_collapse import __version__
from scaling_collapse.report.headline import headline, sentences
from scaling_collapse.report.material import Material
from scaling_collapse.report.parts import Page, Section
from scaling_collapse.report.sections import alarms, curves, measures, missing, predictions, runs

#: What makes a section, or None where there is nothing to say.
SECTIONS: tuple[Callable[[Material], Section | None], ...] = (
    measures.section,
    curves.section,
    alarms.section,
    predictions.section,
    runs.section,
    missing.section,
)


def page_of(material: Material) -> Page:
    """Return the report on a family or on a single run."""
    verdict, tone = headline(material)
    title = material.source if material.is_family else f"{material.members[0].run} ({material.source})"
    made = [section for make in SECTIONS if (section := make(material)) is not None]
    counted = f"{len(material.members)} run{'s' if material.is_family else ''}"
    origin = (
        f"From {material.source}: {counted}, losses of split {material.split}, in nats per token.",
        f"Made by `collapse report` of scaling-collapse {__version__}, after Scaling with Collapse, arXiv 2509.25087.",
    )
    return Page(title, verdict, tone, sentences(material), tuple(made), origin)
