"""What happened to runs: each alarm with its evidence, and pictures of the runs."""

from __future__ import annotations

from scaling_collapse.report import words
from scaling_collapse.report.material import Material
from scaling_collapse.report.parts import Block, Cell, Column, Prose, Section, Table
from scaling_collapse.report.sections.curves import watched

COLUMNS = (
    Column("no.", "as on the pictures", number=True),
    Column("run", long=True),
    Column(
        "kind",
        "spike: the loss rose and came back, or for at most 5% of training; divergence: it rose and stays up, or is no "
        "number any more; drift, slow convergence: it falls, but less than its reference; train-validation split: "
        "validation and training losses part; others are faults of the log",
    ),
    Column("began", "where the fault most likely began"),
    Column("90% interval", "steps between which it began, in nine of ten cases"),
    Column("told at step", "where the losses were enough to be sure: a live alarm comes then", number=True),
    Column(
        "evidence",
        "how large, of which shape, and how sure: standard deviations against the alarm's threshold",
        long=True,
    ),
)

#: More pictures than this make the page long; the table has all alarms.
MOST_PICTURES = 12


def section(material: Material) -> Section:
    """Return the alarms, or that there are none; of a family, with a picture for each run that has one."""
    if not material.alarms:
        rate = next((member.diagnosis.rate for member in material.members if member.diagnosis), 0.0)
        text = f"None. A healthy run gets a false alarm with a probability of {rate:.3g} at most, by the assumptions of"
        return Section("alarms", "Alarms", (Prose(f"{text} the alarm (docs, alarm).", "good"),))
    known = {member.run: member.length_known for member in material.members}
    rows = [
        (
            Cell(str(number)),
            Cell(alarm.run),
            Cell(words.kind_and_end(alarm), "faint" if alarm.is_artefact else "bad"),
            Cell(words.place(alarm, known[alarm.run])),
            Cell(f"{alarm.onset_interval[0]:,} to {alarm.onset_interval[1]:,}"),
            Cell(f"{alarm.alarm_step:,}"),
            Cell(alarm.evidence),
        )
        for number, alarm in material.alarms.items()
    ]
    kept = [place for place, column in enumerate(COLUMNS) if material.is_family or column.heading != "run"]
    shown = tuple(tuple(row[place] for place in kept) for row in rows)
    table = Table(tuple(COLUMNS[place] for place in kept), shown)
    return Section("alarms", "Alarms", (table, *_pictures(material)))


def _pictures(material: Material) -> list[Block]:
    if not material.is_family:
        return []
    accused = [(member, found) for member in material.members if (found := material.alarms_of(member.run))]
    blocks: list[Block] = [watched(member, found, f"alarm-{min(found)}") for member, found in accused[:MOST_PICTURES]]
    if len(accused) > MOST_PICTURES:
        left = len(accused) - MOST_PICTURES
        blocks.append(Prose(f"{words.count(left, 'more run')} with alarms: no picture, see the table.", "faint"))
    return blocks
