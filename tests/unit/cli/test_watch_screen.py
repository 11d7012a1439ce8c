from __future__ import annotations

import io

import pytest
from rich.console import Console

from scaling_collapse.cli.watch_log import LogWatch, News
from scaling_collapse.cli.watch_screen import SHOWN_RUNS, Lines, colour, status_line, status_table
from scaling_collapse.cli.watch_setting import Setting
from scaling_collapse.diagnose.alarm import Alarm
from scaling_collapse.logs.options import Options
from tests.unit.cli.watch_support import DIVERGING, STEPS, healthy, lines
from tests.unit.predict.support import grid, run, shape


def watched(points, **setting):
    watch = LogWatch("x", Options(), Setting(**setting))
    watch.feed(lines(points).encode())
    return watch


def line_of(watch):
    return status_line("x", watch.runs["x"])


def shown(table):
    out = io.StringIO()
    Console(file=out, width=120).print(table)
    return [line.split() for line in out.getvalue().splitlines()]


def test_a_status_line_holds_what_is_known():
    loss = healthy()[499][1]
    assert line_of(watched(healthy()[:500])) == f"x: step 500  loss {loss:.4f}  no alarm  (500 losses)"
    of_known_length = line_of(watched(healthy()[:500], total_steps=STEPS))
    assert of_known_length == f"x: step 500 (50%)  loss {loss:.4f}  no alarm  (500 losses)"


def test_a_status_line_holds_the_predicted_final_loss_where_there_is_a_reference():
    reference = run("small", 3 * shape(grid()), split="train")
    early = watched(healthy()[:50], total_steps=STEPS, references=[reference])
    assert "final loss not known yet" in line_of(early)
    late = watched(healthy()[:400], total_steps=STEPS, references=[reference])
    prediction = late.runs["x"].watch.prediction()
    assert prediction.low < prediction.predicted_final_loss < prediction.high
    words = f"final {prediction.predicted_final_loss:.3f} ({prediction.low:.3f} to {prediction.high:.3f})"
    assert words in line_of(late)


def test_alarms_and_notes_are_told_apart():
    assert "ALARM divergence from step 50" in line_of(watched(DIVERGING))
    assert "no alarm, 1 note on the log" in line_of(watched(healthy()[:500] + healthy()[300:]))
    twice = line_of(watched(healthy()[:500] + healthy()[300:700] + healthy()[400:]))
    assert "no alarm, 2 notes on the log" in twice


def test_the_table_shows_the_columns_that_hold_something():
    rows = shown(status_table("x.log", watched(healthy()[:500])))
    assert rows[0] == ["x.log:", "500", "losses"]
    assert rows[1] == ["run", "step", "loss", "alarms"]
    assert rows[2] == ["x", "step", "500", f"{healthy()[499][1]:.4f}", "no", "alarm"]


def test_the_table_shows_the_last_runs():
    watch = LogWatch("x", Options(), Setting())
    for number in range(SHOWN_RUNS + 3):
        watch.feed(f'{{"run": "r{number}", "step": 1, "loss": 3.0}}\n'.encode())
    assert [row[0] for row in shown(status_table("x.log", watch))[2:]] == [f"r{i}" for i in range(3, SHOWN_RUNS + 3)]


@pytest.mark.parametrize(
    ("kind", "recovered", "expected"),
    [("drift", False, "red"), ("spike", True, "yellow"), ("step_reset", False, "cyan")],
)
def test_colours(kind, recovered, expected):
    assert colour(News(Alarm("a", kind, 1, None, recovered, (1, 1), 1, ""), True)) == expected


def test_status_lines_come_every_so_often_and_when_asked_for(capsys):
    watch, screen = watched(healthy()[:100]), Lines(every=3600, to_errors=False)
    for _ in range(5):
        screen.status(watch)
    assert capsys.readouterr().out.count("x: step 100") == 1
    screen.status(watch, now=True)
    assert capsys.readouterr().out.count("x: step 100") == 1
    often = Lines(every=0, to_errors=True)
    often.status(watch)
    often.status(watch)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("x: step 100") == 2


def test_nothing_is_shown_of_a_log_without_losses(capsys):
    Lines(every=0, to_errors=False).status(LogWatch("x", Options(), Setting()))
    assert capsys.readouterr().out == ""
