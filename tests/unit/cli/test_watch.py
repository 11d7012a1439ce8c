"""`collapse watch`, typed: finished and growing logs, exit codes, JSON, signals, a terminal, and bad input."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

from scaling_collapse.cli.app import main
from tests.unit.cli.watch_support import DIVERGING, NAN, SPIKE, STEPS, healthy, lines, write
from tests.unit.predict.support import family, rows_of

WATCH = [sys.executable, "-m", "scaling_collapse.cli.app", "watch"]
ALARM_KEYS = ["run", "kind", "onset_step", "onset_fraction", "recovered"]
FAMILY = rows_of(family())

#: Log, how it is judged, exit code, and (kind, recovered) of what is listed.
CASES = {
    "healthy": (healthy(), 0, []),
    "diverging": (DIVERGING, 1, [("divergence", False)]),
    "recovered spike": (SPIKE, 1, [("spike", True)]),
    "restart": (healthy()[:600] + healthy(1)[400:], 0, [("step_reset", False)]),
    "another run": (healthy() + healthy(1), 0, [("several_runs", False)]),
    "every step twice": ([p for p in healthy() for _ in range(2)], 0, [("duplicated_steps", False)]),
    "gap": ([*healthy()[:500], (501, NAN), *healthy()[501:]], 0, [("not_a_number", False)]),
    "lost": (
        [*healthy()[:500], *[(s, NAN) for s in range(501, 520)]],
        1,
        [("not_a_number", False), ("divergence", False)],
    ),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("way", [["--once"], ["--follow-for", "0"]], ids=["once", "growing"])
@pytest.mark.parametrize("name", CASES)
def test_exit_codes_and_json(name, way, capsys):
    points, code, expected = CASES[name]
    write(Path("x.log"), points)
    assert main(["watch", "x.log", *way, "--json"]) == code
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["alarms"]
    assert all(list(alarm) == ALARM_KEYS for alarm in found["alarms"])
    assert [(alarm["kind"], alarm["recovered"]) for alarm in found["alarms"]] == expected


def test_the_onset_and_its_fraction(capsys):
    write(Path("x.log"), DIVERGING)
    main(["watch", "x.log", "--once", "--json", "--steps", "2000"])
    (alarm,) = json.loads(capsys.readouterr().out)["alarms"]
    assert alarm["run"] == "x"
    assert alarm["onset_step"] == pytest.approx(500, abs=30)
    assert alarm["onset_fraction"] == alarm["onset_step"] / 2000
    main(["watch", "x.log", "--follow-for", "0", "--json"])
    assert json.loads(capsys.readouterr().out)["alarms"][0]["onset_fraction"] is None


def test_words_of_a_finished_log(capsys):
    write(Path("x.log"), DIVERGING)
    assert main(["watch", "x.log", "--once"]) == 1
    said = capsys.readouterr()
    alarm, status = said.out.splitlines()
    assert alarm.startswith("ALARM x: divergence from step ")
    assert status.startswith("x: step 1,000 (100%)  loss ")
    assert said.err.startswith("x.log: guessed format: nanogpt; train: column 'train loss'")


def test_words_of_a_table(capsys):
    FAMILY.to_csv("t.csv", index=False)
    assert main(["watch", "t.csv", "--once"]) == 0
    assert capsys.readouterr().out == "4 runs: 4 quiet, 0 with an alarm\n"
    assert main(["watch", "t.csv", "--once", "--reference", "t.csv"]) == 0
    assert "r0, r2: held against r1" in capsys.readouterr().err


def test_a_drift_is_told_against_a_reference_only(capsys):
    t = np.arange(1, STEPS + 1) / STEPS
    drift = 1 + 0.1 * np.clip(t - 0.6, 0, None) / 0.4
    write(Path("small.log"), healthy(5))
    write(Path("x.log"), [(step, loss * f) for (step, loss), f in zip(healthy(), drift, strict=True)])
    assert main(["watch", "x.log", "--once"]) == 0
    assert main(["watch", "x.log", "--once", "--reference", "small.log"]) == 1
    said = capsys.readouterr()
    assert "ALARM x: drift from step 6" in said.out
    assert "x: held against small" in said.err
    words = ["--reference", "small.log", "--reference-run", "small", "--steps", str(STEPS)]
    assert main(["watch", "x.log", "--follow-for", "0", *words]) == 1
    assert "ALARM x: drift" in capsys.readouterr().out


def test_columns_can_be_named(capsys):
    rows = "".join(f"{step},{DIVERGING[step - 1][1]:.5f},{loss:.5f}\n" for step, loss in healthy())
    Path("x.csv").write_text("step,loss,other_loss\n" + rows)
    assert main(["watch", "x.csv", "--once"]) == 1
    for way in (["--once"], ["--follow-for", "0"]):
        assert main(["watch", "x.csv", *way, "--loss", "other_loss", "--step", "step", "--format", "csv"]) == 0


def test_the_command_runs_once_for_each_alarm_that_counts(capsys):
    write(Path("x.log"), healthy()[:300] + SPIKE[200:] + DIVERGING)
    command = ["--on-alarm", "echo $COLLAPSE_RUN $COLLAPSE_KIND >> seen.txt; exit 1"]
    assert main(["watch", "x.log", "--once", "--json", *command]) == 1
    said = capsys.readouterr()
    assert len(json.loads(said.out)["alarms"]) == 4
    assert Path("seen.txt").read_text().splitlines() == ["x spike", "x (2) divergence"]
    assert said.err.count("--on-alarm failed with exit code 1") == 2
    Path("seen.txt").unlink()
    assert main(["watch", "x.log", "--follow-for", "0", *command]) == 1
    assert len(Path("seen.txt").read_text().splitlines()) == 2


@contextmanager
def started(*words, **more):
    """A watch of x.log in a process of its own; it is there when the context begins."""
    with subprocess.Popen([*WATCH, "x.log", *words], text=True, **more) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("points", "code"), [(healthy(), 0), (DIVERGING, 1)], ids=["quiet", "alarm"])
def test_signals_end_it_cleanly(number, points, code):
    write(Path("x.log"), points)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started("--json", "--on-alarm", "true", **pipes) as process:
        assert process.stderr.readline().startswith("x.log: guessed")
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert process.returncode == code
    assert [alarm["kind"] for alarm in json.loads(out)["alarms"]] == ["divergence"] * code
    assert "Traceback" not in err


def test_no_line_is_lost_through_rotation_and_restart():
    """5 s at 300 lines a second; a minute at 100, and the cost: benchmarks/watch_cost.py."""
    points = healthy()[:500] + healthy()[400:]
    log = write(Path("x.log"), points[:10])
    with started("--every", "1", "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        first = process.stderr.readline()
        file = log.open("a")
        for number, point in enumerate(points[10:]):
            if number == 300:
                file.close()
                log.rename("x.log.1")
                file = log.open("a")
            file.write(lines([point]))
            file.flush()
            time.sleep(1 / 300)
        file.close()
        time.sleep(0.2)
        process.terminate()
        out, err = process.communicate(timeout=20)
    assert first.startswith("x.log: guessed")
    assert process.returncode == 0
    assert [alarm["kind"] for alarm in json.loads(out)["alarms"]] == ["step_reset"]
    status = [line for line in err.splitlines() if "losses)" in line]
    assert len(status) >= 3
    assert status[-1].endswith(f"({len(points):,} losses)")
    assert f"x: step {STEPS:,}  loss {points[-1][1]:.4f}" in status[-1]


def test_it_waits_for_a_log_that_is_not_there_yet():
    with started("--wait", "--follow-for", "20", "--every", "0", stdout=subprocess.PIPE) as process:
        time.sleep(0.2)
        write(Path("x.log"), healthy())
        assert "x: step 1,000" in process.stdout.readline()
        process.terminate()
        process.communicate(timeout=20)
    assert process.returncode == 0


def test_a_terminal_gets_a_live_view():
    write(Path("x.log"), DIVERGING)
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "120"}
    with started("--follow-for", "0", stdout=theirs, stderr=theirs, env=environment) as process:
        assert process.wait(timeout=30) == 1
    os.close(theirs)
    pieces = []
    with suppress(OSError):  # all was read, and nobody holds the other end
        while piece := os.read(ours, 1 << 16):
            pieces.append(piece)
    os.close(ours)
    shown = b"".join(pieces).decode()
    assert "ALARM x: divergence from step" in shown
    assert "x.log: 1,000 losses" in shown
    assert "step 1,000" in shown


BAD = {
    "missing": (["none.log"], "none.log: there is no such file. Fix: --wait waits for it"),
    "missing once": (["none.log", "--once"], "none.log: cannot be read (No such file or directory)"),
    "empty": (["empty.log", "--follow-for", "0"], "empty.log: nothing was written to it"),
    "empty once": (["empty.log", "--once"], "empty.log: no losses in it"),
    "garbage": (["garbage.log", "--follow-for", "0"], "garbage.log: no losses were recognised in it"),
    "garbage once": (["garbage.log", "--once"], "garbage.log: no losses were recognised in it"),
    "folder": (["."], ".: is a folder"),
    "packed": (["x.log.gz"], "does not grow. Fix: --once judges it as it is"),
    "parquet": (["t.parquet"], "does not grow. Fix: --once judges it as it is"),
    "rate": (["x.log", "--rate", "0.5"], "alarm rate: 0.5 false alarms a run; must be 0.001 to 0.1. Fix: use 0.01"),
    "low rate": (["x.log", "--rate", "1e-4", "--once"], "must be 0.001 to 0.1"),
    "steps": (["x.log", "--steps", "0"], "--steps: 0 is not positive and finite"),
    "tau": (["x.log", "--tau", "nan"], "--tau: nan is not positive and finite"),
    "format": (["x.log", "--format", "nanogp"], "did you mean nanogpt?"),
    "column": (["x.log", "--once", "--loss", "y"], "--loss y: no losses under that name in x.log"),
    "no reference": (["x.log", "--once", "--reference", "none.csv"], "none.csv: cannot be read"),
    "no finished reference": (["x.log", "--once", "--reference", "cut.csv"], "cut.csv: no run in it is finished"),
    "reference not finished": (
        ["x.log", "--once", "--reference", "cut.csv", "--reference-run", "r1"],
        "cut.csv: run r1 is not finished",
    ),
    "reference run": (
        ["x.log", "--once", "--reference", "t.parquet", "--reference-run", "r11"],
        "r11: there is no such run in the table. Fix: did you mean r1?",
    ),
    "reference run alone": (["x.log", "--reference-run", "r1"], "--reference-run r1: it is a run of --reference"),
    "no length": (["x.log", "--reference", "t.parquet"], "x: its length is not known, as a reference needs"),
    "another schedule": (
        ["x.log", "--once", "--reference", "t.parquet", "--reference-run", "r1", "--schedule", "constant"],
        "x: its schedule is constant, that of reference r1 is linear_to_zero",
    ),
    "no log": ([], "Missing argument 'log'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line(name, capsys):
    words, message = BAD[name]
    write(Path("x.log"), healthy())
    Path("x.log.gz").write_bytes(b"\x1f\x8b\x08" + bytes(100))
    FAMILY.to_parquet("t.parquet")
    FAMILY[FAMILY["tokens"] < 0.5 * FAMILY["tokens_total"]].to_csv("cut.csv", index=False)
    Path("empty.log").touch()
    Path("garbage.log").write_bytes(np.random.default_rng(0).bytes(3000))
    assert main(["watch", *words]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.count("error: ") == 1
    assert said.err.splitlines()[-1].startswith("error: ")
    assert said.out == ""


def test_a_table_without_tokens_is_judged_too(capsys):
    FAMILY.assign(tokens=np.nan, tokens_total=np.nan).to_csv("t.csv", index=False)
    assert main(["watch", "t.csv", "--once", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"alarms": []}
