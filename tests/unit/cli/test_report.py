"""`collapse report`: files of every kind, exit codes, and anything that can be wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scaling_collapse.cli.app import main
from tests.unit.report.support import STEPS, T, family, look, run, step, unknown

LOSSES = 3 + 2 * np.exp(-T * 5) + 0.02 * np.random.default_rng(0).standard_normal(STEPS)


@pytest.fixture
def curves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    family().to_csv("curves.csv", index=False)
    return Path("curves.csv")


def written(name: str = "report.html") -> list[str]:
    """Return the words of a report that was written, after a strict look at it."""
    return look(Path(name).read_text(encoding="utf-8")).words


def log(losses: np.ndarray = LOSSES) -> str:
    return "".join(f"iter {i}: loss {loss:.4f}, time 1.00ms, mfu 1.00%\n" for i, loss in enumerate(losses, 1))


def test_a_quiet_family_is_zero_and_the_verdict_is_said(curves: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "curves.csv"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("These 3 runs collapse; no run has an alarm.\n  Their normalised curves lie ")
    assert said.out.endswith("report: report.html\n")
    assert said.err == ""
    assert "These 3 runs collapse; no run has an alarm." in written()


def test_the_same_input_gives_the_same_bytes(curves: Path) -> None:
    assert main(["report", "curves.csv", "-o", "one/a.html"]) == 0
    assert main(["report", "curves.csv", "-o", "two/b.html"]) == 0
    assert Path("one/a.html").read_bytes() == Path("two/b.html").read_bytes()
    assert [path.name for path in Path("one").iterdir()] == ["a.html"]


def test_an_alarm_is_one_and_no_collapse_too(curves: Path, capsys: pytest.CaptureFixture[str]) -> None:
    family(middle=run("middle", fault=step())).to_csv("curves.csv", index=False)
    assert main(["report", "curves.csv"]) == 1
    assert "middle: " in capsys.readouterr().out
    apart = {name: run(name, tau=tau) for name, tau in (("small", 0.1), ("large", 0.8))}
    family(**apart).to_csv("curves.csv", index=False)
    assert main(["report", "curves.csv"]) == 1
    assert "do not collapse; no run has an alarm" in capsys.readouterr().out


def test_runs_by_pattern_and_a_single_one(curves: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "curves.csv", "--run", "*l*", "-o", "two.html"]) == 0  # small, middle and large
    assert main(["report", "curves.csv", "--run", "large", "-o", "one.html"]) == 0
    assert "This run is quiet: no alarm (finished)." in written("one.html")
    assert "as the mean of 2 runs projects" in written("one.html")


def test_logs_are_read_and_guesses_told_on_stderr(curves: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.log").write_text(log())
    Path("b.log").write_text(log(LOSSES + 0.1))
    assert main(["report", "a.log", "b.log"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("Whether these runs collapse cannot be said; no run has an alarm.")
    assert said.err.startswith("a.log, b.log: guessed format: nanogpt; train: column ")
    words = " ".join(written())
    assert "To mend it: say --complete if every run was logged to its end" in words
    assert main(["report", "a.log", "b.log", "--complete"]) in (0, 1)
    assert "2 runs" in capsys.readouterr().out


def test_options_for_logs_reach_the_reader(curves: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = pd.DataFrame({"it": np.arange(1, STEPS + 1), "a/loss": LOSSES, "b/loss": LOSSES + 1})
    frame.to_csv("log.csv", index=False)
    words = ["report", "log.csv", "--loss", "b/loss", "--step", "it", "--format", "csv"]
    assert main(words) == 0
    assert f"{LOSSES[-1] + 1:.1f}"[:2] in " ".join(written())
    assert "guessed format" not in capsys.readouterr().err
    assert main(["report", "log.csv", "--validation", "nothing"]) == 2


def test_a_log_that_ends_in_nan_diverged(curves: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.log").write_text(log(np.where(T > 0.75, np.nan, LOSSES)))
    assert main(["report", "a.log"]) == 1
    assert f"Divergence from step {int(0.75 * STEPS) + 1}" in capsys.readouterr().out


def test_a_reference_from_the_table_or_from_a_file(curves: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("large", until=0.4).to_csv("now.csv", index=False)
    assert main(["report", "now.csv"]) == 0
    assert "expected to end" not in capsys.readouterr().out
    assert main(["report", "now.csv", "--reference", "curves.csv"]) == 0
    assert "It is expected to end at " in capsys.readouterr().out
    assert main(["report", "curves.csv", "--run", "large", "--reference", "small"]) == 0
    assert "Reference: small, averaged." in " ".join(written())


def test_a_run_in_progress_is_predicted(curves: Path, capsys: pytest.CaptureFixture[str]) -> None:
    family(large=run("large", until=0.4)).to_parquet("now.parquet")
    assert main(["report", "now.parquet"]) == 0
    said = capsys.readouterr().out
    assert "large is expected to end at 3.0" in said or "large is expected to end at 2.9" in said


def test_names_of_runs_are_harmless(curves: Path) -> None:
    evil = "<script>alert('x')</script>\"><img src=x onerror=x()>$\\frac{1$"
    frame = pd.concat([family(), unknown(evil)], ignore_index=True)
    frame.loc[frame["run"] == "small", "run"] = "</style></svg><b>"
    frame.to_csv("curves.csv", index=False)
    main(["report", "curves.csv", "--complete"])
    words = written()
    assert evil in words
    assert "</style></svg><b>" in words


def test_a_run_that_cannot_be_shown_does_not_hide_the_others(curves: Path) -> None:
    frame = family()
    frame.loc[frame["run"] == "large", "tokens_total"] = 1e5  # it saw 400,000
    frame.to_csv("curves.csv", index=False)
    assert main(["report", "curves.csv"]) == 0
    words = " ".join(written())
    assert "These 2 runs collapse" in words
    assert "it saw 400000 tokens, more than its total of 100000" in words


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["no.csv"], "no.csv: cannot be read"),
        (["empty.csv"], "empty.csv: no losses"),
        (["bad.csv"], "bad.csv: run small (train) has loss -1.0 at step 1; losses are positive and finite"),
        (["text.log"], "text.log: no losses were recognised in it"),
        (["curves.csv", "-o", "report.txt"], "report.txt: a report is a .html file, not .txt"),
        (["curves.csv", "-o", "report"], "report: a report is a .html file, not without suffix"),
        (["page.html", "-o", "page.html"], "page.html: this is one of the inputs, which it would overwrite"),
        (["curves.csv", "-o", "text.log/report.html"], "text.log/report.html: the report could not be written: "),
        (["curves.csv", "--run", "smal"], "smal: there is no such run in the table. Fix: did you mean small?"),
        (["curves.csv", "--run", "x*"], "x*: no run of the table fits it; the first is small"),
        (["curves.csv", "--split", "test"], "no run has losses of split 'test' that can be shown"),
        (["curves.csv", "--reference", "smal"], "--reference smal: there is neither such a run nor such a file"),
        (["curves.csv", "--reference", "text.log"], "text.log: no losses were recognised in it"),
        (["curves.csv", "--reference", "part.csv"], "--reference: no run in it is finished, as a reference has to be"),
        (["curves.csv", "copy.csv"], "copy.csv: run small is in curves.csv too. Fix: give each run once"),
        (["curves.csv", "--loss", "l"], "curves.csv: it is a table of curves, and the options are for logs"),
        (["text.log", "--format", "nothing"], "nothing"),
        ([], "Missing argument 'curves'"),
    ],
)
def test_bad_requests_are_one_line(
    curves: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("empty.csv").touch()
    Path("copy.csv").write_bytes(curves.read_bytes())
    Path("text.log").write_text("hello\n")
    Path("page.html").write_text("<p>")
    family().assign(loss=-1.0).to_csv("bad.csv", index=False)
    run("other", until=0.4).to_csv("part.csv", index=False)
    assert main(["report", *words]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert not Path("report.html").exists()
