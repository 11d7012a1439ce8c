"""The runs, a row each."""

from __future__ import annotations

from scaling_collapse.report import words
from scaling_collapse.report.material import Material
from scaling_collapse.report.members import Member
from scaling_collapse.report.parts import Cell, Column, Section, Table, Tone

COLUMNS = (
    Column("run", "its name, with its colour on the pictures", long=True),
    Column("size", "parameters N", number=True),
    Column("tokens", "planned training tokens D", number=True),
    Column("TPP", "tokens per parameter, D/N", number=True),
    Column("tau", words.TAU[0].lower() + words.TAU[1:].rstrip("."), number=True),
    Column("schedule", "how the learning rate changes"),
    Column("loss", "final loss [nats]; of runs that did not finish, the last so far", number=True),
    Column("status", "how it ended, or how far it is"),
    Column("held against", "what tells where its loss should be: finished runs of its recipe", long=True),
    Column("alarms", "what happened to it; numbers as under alarms"),
)


def section(material: Material) -> Section | None:
    """Return the table of runs of a family, without columns that are not known of any run."""
    if not material.is_family:
        return None
    rows = [_row(material, member) for member in material.members]
    told = [place for place in range(len(COLUMNS)) if any(row[place].text != words.UNKNOWN for row in rows)]
    shown = tuple(tuple(row[place] for place in told) for row in rows)
    return Section("runs", "Runs", (Table(tuple(COLUMNS[place] for place in told), shown),))


def _row(material: Material, member: Member) -> tuple[Cell, ...]:
    curve, alarms = member.curve, material.alarms_of(member.run)
    outlier = material.check is not None and member.run in material.check.outliers
    kinds = ", ".join(f"{number} {words.kind_and_end(alarm)}" for number, alarm in alarms.items())
    tone: Tone = "bad" if any(not alarm.is_artefact for alarm in alarms.values()) else ""
    how = words.status(member)
    return (
        Cell(member.run, "bad" if outlier else "", material.palette.hexadecimal(member.run)),
        Cell(words.amount(curve.size_params)),
        Cell(words.amount(float(curve.facts["tokens_total"]))),
        Cell(words.setting(curve.tpp)),
        Cell(words.setting(curve.tau)),
        Cell(str(curve.facts.get("schedule") or words.UNKNOWN)),
        Cell(words.loss(words.last_loss(member))),
        Cell(how, "" if how == "finished" else "bad" if member.diverged else "unknown"),
        Cell("nothing" if member.reference is None else member.reference.source, "faint"),
        Cell(kinds or "none", tone, anchor="alarms" if alarms else ""),
    )
