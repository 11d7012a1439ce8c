"""The report in a sentence, and the few that belong to it."""

from __future__ import annotations

from collections.abc import Iterator

from scaling_collapse.diagnose.alarm import Alarm
from scaling_collapse.report import words
from scaling_collapse.report.material import Material
from scaling_collapse.report.parts import Tone


def headline(material: Material) -> tuple[str, Tone]:
    """Return the verdict and its tone."""
    accused = _accused(material)
    if not material.is_family:
        member = material.members[0]
        if accused:
            kinds = dict.fromkeys(words.kind(alarm) for alarm in material.alarms.values() if not alarm.is_artefact)
            return f"This run has {_a_list(list(kinds))}.", "bad"
        return f"This run is quiet: no alarm ({words.status(member)}).", "good"
    found = words.count(len(accused), "run has an alarm", "runs have alarms") if accused else "no run has an alarm"
    if material.check is None:
        return f"Whether these runs collapse cannot be said; {found}.", "bad" if accused else "unknown"
    compared, everything = len(material.check.runs), len(material.members)
    which = f"These {compared} runs" if compared == everything else f"{compared} of {everything} runs are compared and"
    if material.check.collapses:
        return f"{which} collapse; {found}.", "bad" if accused else "good"
    return f"{which} do not collapse; {found}.", "bad"


def sentences(material: Material) -> tuple[str, ...]:
    """Return what explains the headline."""
    return (*_collapse(material), *_alarms(material), *_predictions(material))


def _collapse(material: Material) -> Iterator[str]:
    check = material.check
    if check is None:
        for one in material.missing:
            if one.what == "collapse":
                yield f"{one.why[0].upper()}{one.why[1:]}."
        return
    spread, limit = words.percent(check.spread_percent), words.percent(check.limit_percent)
    apart = f"Their normalised curves lie {spread} of the final loss apart"
    if check.collapses:
        yield f"{apart}; noise and the wander of healthy runs explain up to {limit}."
    else:
        yield f"{apart}, and noise and the wander of healthy runs explain only {limit}."
    if check.mismatches:
        yield f"They do not share: {'; '.join(check.mismatches)}."
    if check.outliers:
        rest = "the others collapse" if material.alike else "the others lie much closer together"
        yield f"Without {words.names(check.outliers)} {rest}."
    gone = [member.run for member in material.members if member.run in check.left_out]
    if gone:
        yield f"Not compared, since diverged or not finished: {words.names(gone)}."


def _alarms(material: Material) -> Iterator[str]:
    known = {member.run: member.length_known for member in material.members}
    alarms = sorted(
        (alarm for alarm in material.alarms.values() if not alarm.is_artefact), key=lambda alarm: alarm.recovered
    )
    if material.is_family:  # one of each run, the lasting ones before those that are over
        alarms = list({alarm.run: alarm for alarm in reversed(alarms)}.values())[::-1]
    for alarm in alarms[: words.MOST_NAMES]:
        about = f"{alarm.run}: " if material.is_family else ""
        text = f"{about}{_one(alarm, known[alarm.run])}."
        yield text if about else text[0].upper() + text[1:]
    if len(alarms) > words.MOST_NAMES:
        yield f"{len(alarms) - words.MOST_NAMES} more below."
    artefacts = [alarm for alarm in material.alarms.values() if alarm.is_artefact]
    if artefacts:
        yield f"The log has {words.count(len(artefacts), 'fault')} of its own, see alarms."


def _predictions(material: Material) -> Iterator[str]:
    told = [m for m in material.members if m.prediction and m.prediction.predicted_final_loss is not None]
    for member in told[: words.MOST_NAMES]:
        prediction = member.prediction
        assert prediction is not None
        about = member.run if material.is_family else "It"
        value, low, high = map(words.loss, (prediction.predicted_final_loss, prediction.low, prediction.high))
        yield f"{about} is expected to end at {value} nats (90% interval {low} to {high})."
    if len(told) > words.MOST_NAMES:
        yield f"{len(told) - words.MOST_NAMES} more are predicted below."


def _accused(material: Material) -> list[str]:
    """Return the runs whose training went wrong."""
    return list(dict.fromkeys(alarm.run for alarm in material.alarms.values() if not alarm.is_artefact))


def _one(alarm: Alarm, length_known: bool) -> str:
    return f"{words.kind(alarm)} from {words.place(alarm, length_known)}{', recovered' if alarm.recovered else ''}"


def _a_list(kinds: list[str]) -> str:
    """Return kinds of alarms with their articles: a spike and a drift."""
    return " and ".join(f"a {kind}" for kind in kinds) if len(kinds) < 3 else f"alarms: {', '.join(kinds)}"
