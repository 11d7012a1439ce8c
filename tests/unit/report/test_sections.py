"""What the sections say: numbers against the measures themselves, and every sentence that depends on what was found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scaling_collapse.logs.notes import Guess, Note
from scaling_collapse.report import words
from scaling_collapse.report.assemble import SECTIONS, page_of
from scaling_collapse.report.headline import headline, sentences
from scaling_collapse.report.page import to_html
from scaling_collapse.report.parts import Facts, Items, Picture, Table
from scaling_collapse.report.sections import alarms, curves, measures, missing, predictions, runs
from tests.unit.report.support import FINAL, NOISE, look


def of_kind(section, kind):
    return [block for block in section.blocks if isinstance(block, kind)]


def facts_of(material):
    (facts,) = of_kind(measures.section(material), Facts)
    return {fact.name: fact for fact in facts.facts}


def table_of(section):
    (table,) = of_kind(section, Table)
    headings = [column.heading for column in table.columns]
    return [dict(zip(headings, row, strict=True)) for row in table.rows]


def test_the_headline_is_the_verdict(healthy, faulty, in_progress, alone, lengthless, mismatched):
    assert headline(healthy) == ("These 3 runs collapse; no run has an alarm.", "good")
    assert headline(faulty) == ("These 4 runs do not collapse; 1 run has an alarm.", "bad")
    assert headline(in_progress) == ("2 of 3 runs are compared and collapse; no run has an alarm.", "good")
    assert headline(alone) == ("This run is quiet: no alarm (at 40%).", "good")
    assert headline(lengthless) == ("Whether these runs collapse cannot be said; 1 run has an alarm.", "bad")
    verdict, tone = headline(mismatched)
    assert verdict.startswith("These 3 runs do not collapse")
    assert tone == "bad"


def test_the_sentences_name_spread_limit_outliers_and_what_is_not_shared(healthy, faulty, mismatched, in_progress):
    check = healthy.check
    (sentence,) = sentences(healthy)
    assert f"{check.spread_percent:.3g}% of the final loss apart" in sentence
    assert f"explain up to {check.limit_percent:.3g}%" in sentence
    told = sentences(faulty)
    assert "Without middle the others collapse." in told
    assert any(text.startswith("middle: ") and "60% of training" in text for text in told)
    assert "They do not share: tau from 0.05 (small) to 0.8 (large), a ratio of 16." in sentences(mismatched)
    assert "Not compared, since diverged or not finished: large." in sentences(in_progress)
    prediction = in_progress.members[2].prediction
    expected = f"large is expected to end at {prediction.predicted_final_loss:.4f} nats"
    assert any(text.startswith(expected) for text in sentences(in_progress))


def test_a_reason_stands_where_there_is_no_verdict(lengthless):
    assert "The length of no run is known." in sentences(lengthless)
    (alarm,) = [text for text in sentences(lengthless) if text.startswith("large: ")]
    assert "%" not in alarm  # the fraction of training is not known


def test_each_number_of_a_family_has_its_meaning(healthy, faulty):
    facts = facts_of(healthy)
    check = healthy.check
    for name, value in (
        ("spread", check.spread_percent),
        ("limit", check.limit_percent),
        ("noise floor", check.noise_floor_percent),
        ("spread of range", check.spread_of_range_percent),
    ):
        assert float(facts[name].value.rstrip("%")) == pytest.approx(value, rel=0.01)
    assert facts["compared"].value == "3 of 3 runs"
    assert "scatter of each curve" in facts["noise floor"].meaning
    assert facts_of(faulty)["does not fit"].value == "middle"
    assert all(fact.meaning for fact in facts.values())


def test_the_numbers_of_a_single_run(alone):
    facts = facts_of(alone)
    assert facts["status"].value == "at 40%"
    assert facts["steps"].value == "160"
    assert float(facts["noise of one loss"].value.rstrip("%")) == pytest.approx(100 * NOISE, rel=0.35)
    assert facts["false alarms"].value == "1%"
    assert facts["size"].value == "400k"
    assert "final loss" not in facts
    assert all(fact.meaning for fact in facts.values())


def test_a_family_without_a_verdict_has_no_numbers(lengthless):
    assert measures.section(lengthless) is None


def test_the_table_of_runs(healthy, faulty, in_progress):
    rows = {row["run"].text: row for row in table_of(runs.section(healthy))}
    assert rows["large"]["size"].text == "400k"
    assert rows["large"]["TPP"].text == "20"
    assert rows["large"]["tau"].text == "0.2"
    assert float(rows["large"]["loss"].text) == pytest.approx(FINAL["large"], rel=0.005)
    assert rows["large"]["held against"].text == "the mean of 2 runs"
    assert {row["alarms"].text for row in rows.values()} == {"none"}
    assert len({row["run"].swatch for row in rows.values()}) == 3
    accused = {row["run"].text: row for row in table_of(runs.section(faulty))}["middle"]
    assert accused["run"].tone == "bad"
    assert accused["alarms"].text.startswith("1 ")
    assert accused["alarms"].anchor == alarms.section(faulty).anchor
    assert table_of(runs.section(in_progress))[2]["status"].text == "at 40%"


def test_columns_of_which_nothing_is_known_are_left_out(lengthless, healthy):
    assert set(table_of(runs.section(lengthless))[0]) == {
        "run", "size", "schedule", "loss", "status", "held against", "alarms",
    }  # fmt: skip
    assert {"tokens", "TPP", "tau"} <= set(table_of(runs.section(healthy))[0])


def test_a_single_run_has_no_table_of_runs(alone):
    assert runs.section(alone) is None


def test_alarms_are_told_with_onset_interval_and_evidence(faulty, lengthless):
    row = table_of(alarms.section(faulty))[0]
    alarm = faulty.alarms[1]
    assert row["run"].text == "middle"
    assert row["began"].text == f"step {alarm.onset_step} (60% of training)"
    assert row["90% interval"].text == f"{alarm.onset_interval[0]} to {alarm.onset_interval[1]}"
    assert row["told at step"].text == str(alarm.alarm_step)
    assert row["evidence"].text == alarm.evidence
    (picture,) = of_kind(alarms.section(faulty), Picture)
    assert "Reference: " in picture.caption
    assert "(" not in table_of(alarms.section(lengthless))[0]["began"].text


def test_no_alarm_is_said_with_what_that_is_worth(healthy):
    (prose,) = alarms.section(healthy).blocks
    assert prose.text.startswith("None. A healthy run gets a false alarm with a probability of 0.01 at most")


def test_pictures_of_many_runs_with_alarms_stop_at_a_number(lengthless, monkeypatch):
    monkeypatch.setattr(alarms, "MOST_PICTURES", 0)
    assert alarms.section(lengthless).blocks[-1].text == "1 more run with alarms: no picture, see the table."


def test_curves_of_a_family_show_each_run_and_its_distance(healthy):
    logged, normalised = of_kind(curves.section(healthy), Picture)
    for picture in (logged, normalised):
        for name in FINAL:
            assert f"<title>{name}</title>" in picture.svg
    assert "Colours: by size" in logged.caption
    assert logged.key == ()
    assert ">tokens<" in logged.svg


def test_where_nothing_tells_runs_apart_a_key_names_them(lengthless):
    changed = [
        replace(m, curve=replace(m.curve, facts=m.curve.facts | {"size_params": np.nan})) for m in lengthless.members
    ]
    lines = [replace(m, line=replace(m.line, curve=m.curve)) for m in changed]
    (logged,) = of_kind(curves.section(replace(lengthless, members=tuple(lines))), Picture)
    assert [name for name, _ in logged.key] == ["small", "large"]
    assert ">steps<" in logged.svg


def test_onsets_are_marked_by_number(faulty):
    logged, _ = of_kind(curves.section(faulty), Picture)
    assert "Red circles" in logged.caption
    found = look(str(logged.svg))
    assert "1" in found.words


def test_predictions_have_intervals_and_a_picture(in_progress, healthy, alone):
    section = predictions.section(in_progress)
    (row,) = table_of(section)
    prediction = in_progress.members[2].prediction
    assert row["known"].text == "40%"
    assert row["90% interval"].text == f"{prediction.low:.4f} to {prediction.high:.4f}"
    assert row["by"].text == "middle"
    assert len(of_kind(section, Picture)) == 1
    assert predictions.section(healthy) is None
    assert predictions.section(alone) is None


def test_warnings_of_predictions_are_told(in_progress):
    last = in_progress.members[2]
    warned = replace(last, prediction=last.prediction.with_warning("a warning"))
    section = predictions.section(replace(in_progress, members=(warned,)))
    (items,) = of_kind(section, Items)
    assert ("large", "a warning", "") in items.items


def test_what_is_missing_is_told_once_for_all_that_it_concerns(lengthless, healthy, alone):
    (items,) = of_kind(missing.section(lengthless), Items)
    about, why, fix = items.items[0]
    assert about == "small, large"
    assert "fraction of training" in why
    assert "--complete" in fix
    assert missing.section(healthy) is None
    (items,) = of_kind(missing.section(alone), Items)
    assert any("without a reference only rises" in why for _, why, _ in items.items)


def test_guesses_and_repairs_of_logs_are_told_without_folders(healthy):
    notes = (Note("/a/b/x.log", 3, "lines without a loss", "hello", True),)
    guesses = (Guess("/a/b/x.log", "format", "csv", "--format"), Guess("/a/b/x.log", "train", "column 'l'", "--loss"))
    told = replace(healthy, given=replace(healthy.given, notes=notes, guesses=guesses))
    (items,) = of_kind(missing.section(told), Items)
    assert items.items == (
        ("x.log", "3 lines without a loss (first: hello)", ""),
        (
            "x.log",
            "guessed format: csv; train: column 'l'",
            "if it is wrong, `collapse import` with --format, --loss makes a table to report on",
        ),
    )


@pytest.mark.parametrize("name", ["healthy", "faulty", "in_progress", "alone", "lengthless", "mismatched"])
def test_whole_pages_are_sound_and_the_same_each_time(name, request):
    material = request.getfixturevalue(name)
    html = to_html(page_of(material))
    found = look(html)
    anchors = [section.anchor for make in SECTIONS if (section := make(material))]
    assert [link.removeprefix("#") for link in found.links][: len(anchors)] == anchors
    assert html == to_html(page_of(material))
    assert len(html.encode()) < 300_000
    assert headline(material)[0] in found.words


def test_numbers_as_people_read_them():
    assert [words.percent(value) for value in (0.1833, 12.34, 234.5, 0.0123, np.nan)] == [
        "0.183%", "12.3%", "234%", "0.012%", "not known",
    ]  # fmt: skip
    assert [words.loss(value) for value in (3.23304, 1234.56, None, np.inf)] == [
        "3.2330", "1234.6", "not known", "not known",
    ]  # fmt: skip
    assert words.names(["a", "b"]) == "a, b"
    assert words.names(list("abcdef")) == "a, b, c and 3 more"
    assert (words.count(1, "run"), words.count(2, "run")) == ("1 run", "2 runs")
    assert words.amount(1.5e9) == "1.5B"
