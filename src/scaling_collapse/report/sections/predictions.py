"""Where runs that go on are expected to end."""

from __future__ import annotations

from scaling_collapse.figures import style
from scaling_collapse.figures.predictions import draw_predictions
from scaling_collapse.report import words
from scaling_collapse.report.material import Material
from scaling_collapse.report.members import Member
from scaling_collapse.report.parts import Block, Cell, Column, Items, Picture, Section, Table
from scaling_collapse.report.svg import inline

COLUMNS = (
    Column("run", long=True),
    Column("known", "the part of training that is known", number=True),
    Column("predicted", "expected final loss [nats]", number=True),
    Column("90% interval", "nine of ten such intervals hold the final loss"),
    Column("+-", "half of the interval, in percent of the loss", number=True),
    Column("by", "finished run whose curve is aligned to what is known", long=True),
    Column("method", "way of aligning; the data choose it"),
)


def section(material: Material) -> Section | None:
    """Return predictions with intervals and warnings, None where no run goes on or none can be predicted."""
    told = [member for member in material.members if _has_value(member)]
    if not told:
        return None
    blocks: list[Block] = [Table(COLUMNS, tuple(map(_row, told))), _picture(told)]
    warnings = [(m.run, text, "") for m in told if m.prediction for text in m.prediction.warnings]
    if warnings:
        blocks.append(Items(tuple(warnings)))
    return Section("predictions", "Predictions", tuple(blocks))


def _has_value(member: Member) -> bool:
    return member.prediction is not None and member.prediction.predicted_final_loss is not None


def _row(member: Member) -> tuple[Cell, ...]:
    prediction, template = member.prediction, member.template
    assert prediction is not None
    assert template is not None
    return (
        Cell(member.run),
        Cell(f"{prediction.progress:.0%}"),
        Cell(words.loss(prediction.predicted_final_loss)),
        Cell(f"{words.loss(prediction.low)} to {words.loss(prediction.high)}"),
        Cell(words.percent(prediction.half_width_percent)),
        Cell(template.source),
        Cell(prediction.method),
    )


def _picture(told: list[Member]) -> Picture:
    curves = {member.run: member.curve for member in told}
    templates = {member.run: member.template for member in told if member.template is not None}
    found = [member.prediction for member in told if member.prediction is not None]
    with style.style():
        figure = draw_predictions(found, curves, templates, "finished run")
        assert figure is not None
        svg = inline(figure, "predictions", f"Predictions of {len(told)} runs")
    return Picture(svg, "What is known of each run, the finished run's curve aligned to it, and the expected end.")
