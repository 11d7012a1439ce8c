"""What the report cannot say, and why; what was guessed, repaired or left out of the logs."""

from __future__ import annotations

from collections.abc import Iterable

from scaling_collapse.report import words
from scaling_collapse.report.material import Material
from scaling_collapse.report.parts import Block, Items, Prose, Section


def section(material: Material) -> Section | None:
    """Return what is not judged, with what would mend it; None where nothing is missing."""
    items = [*_missing(material), *_notes(material), *_of_logs(material)]
    if not items:
        return None
    lead = Prose("The rest of the report stands without these.", "faint")
    blocks: tuple[Block, ...] = (lead, Items(tuple(items)))
    return Section("missing", "What could not be judged, and what was assumed", blocks)


def _missing(material: Material) -> Iterable[tuple[str, str, str]]:
    """Yield each reason once, with the runs that it concerns."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for one in material.missing:
        by_reason.setdefault((one.why, one.fix), []).append(one.what)
    for (why, fix), about in by_reason.items():
        yield words.names(about), why, fix


def _notes(material: Material) -> Iterable[tuple[str, str, str]]:
    """Yield what limits the alarm, once for all runs that it concerns."""
    by_note: dict[str, list[str]] = {}
    for member in material.members:
        for note in member.diagnosis.notes if member.diagnosis else ():
            by_note.setdefault(note, []).append(member.run)
    for note, runs in by_note.items():
        yield words.names(runs), note, ""


def _of_logs(material: Material) -> Iterable[tuple[str, str, str]]:
    if material.given is None:
        return
    for note in material.given.notes:
        yield material.shown(note.where), note.line, ""
    for where in dict.fromkeys(guess.where for guess in material.given.guesses):
        own = [guess for guess in material.given.guesses if guess.where == where]
        options = ", ".join(dict.fromkeys(guess.option for guess in own))
        text = f"guessed {'; '.join(f'{guess.what}: {guess.value}' for guess in own)}"
        yield (
            material.shown(where),
            text,
            f"if it is wrong, `collapse import` with {options} makes a table to report on",
        )
