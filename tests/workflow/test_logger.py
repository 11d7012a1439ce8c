"""What Snakemake says while it works."""

from __future__ import annotations

import io
import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

from snakemake_logger_plugin_collapse import LogHandler, duration, shorten, tail


class Screen:
    """A handler whose words can be read."""

    def __init__(self, dryrun: bool = False) -> None:
        self.handler = LogHandler(SimpleNamespace(dryrun=dryrun, printshellcmds=True), None)  # type: ignore[arg-type]
        self.stream = io.StringIO()
        self.handler.console = Console(file=self.stream, width=200, soft_wrap=True, highlight=False)

    def tell(self, event: LogEvent | None, message: str = "", level: int = logging.INFO, **fields: Any) -> None:
        record = logging.makeLogRecord({"msg": message, "levelno": level, "event": event, **fields})
        self.handler.emit(record)

    def plan(self, **stats: int) -> None:
        self.tell(LogEvent.RUN_INFO, stats={**stats, "total": sum(stats.values())})

    def start(
        self, job: int, rule: str = "train_run", message: str = "Train a", command: str = "collapse train a"
    ) -> None:
        self.tell(LogEvent.JOB_INFO, jobid=job, rule_name=rule, rule_msg=message, reason="Params have changed")
        self.tell(LogEvent.SHELLCMD, shellcmd=command)

    @property
    def lines(self) -> list[str]:
        return self.stream.getvalue().splitlines()


def test_snakemake_finds_the_plugin() -> None:
    assert LoggerPluginRegistry().is_installed("collapse")


def test_stages_are_counted_without_the_target() -> None:
    screen = Screen()
    screen.plan(build_corpus=1, train_run=2, all=1)
    screen.start(7)
    screen.start(4, message="Train b")
    screen.tell(LogEvent.JOB_FINISHED, job_id=4)
    assert screen.lines[0] == "3 stages: 2 train_run, build_corpus"
    assert screen.lines[1] == "[1/3] Train a"
    assert screen.lines[3] == "[2/3] Train b"
    assert screen.lines[5].startswith("[2/3] Train b: done in 0.0 s; 1 of 3 stages done")


def test_the_target_itself_is_no_stage() -> None:
    screen = Screen()
    screen.plan(train_run=1, all=1)
    screen.start(0, rule="all", message="", command="")
    screen.tell(LogEvent.JOB_FINISHED, job_id=0)
    assert len(screen.lines) == 1


def test_a_command_can_be_pasted() -> None:
    screen = Screen()
    screen.start(1, command="collapse train a --scale cpu 2>&1 | tee -i logs/a.log")
    screen.start(2, command="collapse figure b > logs/b.log 2>&1")
    assert [line.strip() for line in screen.lines[1::2]] == ["collapse train a --scale cpu", "collapse figure b"]


def test_a_dry_run_gives_the_reason() -> None:
    screen = Screen(dryrun=True)
    screen.start(1)
    assert screen.lines[1].strip() == "because: Params have changed"


def test_a_failure_shows_its_log_and_the_end_sums_up(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("".join(f"line {i}\n" for i in range(9)) + "error: no such thing\n", encoding="utf-8")
    screen = Screen()
    screen.plan(train_run=2)
    screen.start(1)
    screen.tell(
        LogEvent.JOB_ERROR, level=logging.ERROR, jobid=1, rule_name="train_run", log=[f"{log} (check log file)"]
    )
    screen.tell(LogEvent.ERROR, "CalledProcessError in file ...", logging.ERROR)
    screen.start(1)
    screen.tell(LogEvent.JOB_ERROR, level=logging.ERROR, jobid=1, rule_name="train_run", log=[str(log)])
    screen.tell(LogEvent.ERROR, "At least one job did not complete successfully.", logging.ERROR)
    assert screen.lines[3] == f"[1/2] Train a: FAILED; its log: {log}"
    assert screen.lines[8].strip() == "error: no such thing"
    assert screen.lines[9] == "[1/2] Train a again"
    assert screen.lines[-2] == "Failed: Train a. 0 of 2 stages done."
    assert not any("CalledProcessError" in line for line in screen.lines)


def test_a_retry_that_works_is_no_failure() -> None:
    screen = Screen()
    screen.plan(train_run=2)
    screen.start(1)
    screen.tell(LogEvent.JOB_ERROR, level=logging.ERROR, jobid=1, rule_name="train_run", log=[])
    screen.start(1)
    screen.tell(LogEvent.JOB_FINISHED, job_id=1)
    assert screen.handler.failed == {}


def test_ctrl_c_stops_stages_rather_than_failing_them() -> None:
    screen = Screen()
    screen.plan(train_run=2)
    screen.start(1)
    screen.tell(None, "Terminating processes on user request, this might take some time.", logging.WARNING)
    screen.tell(LogEvent.JOB_ERROR, level=logging.ERROR, jobid=1, rule_name="train_run", log=["none.log"])
    assert screen.lines[-1] == "[1/2] Train a: stopped"


@pytest.mark.parametrize(
    ("text", "level", "said"),
    [
        ("Building DAG of jobs...", logging.INFO, False),
        ("Nothing to be done (all requested files are present and up to date).", logging.INFO, True),
        ("MissingInputException in rule x: [bold]", logging.ERROR, True),
    ],
)
def test_chatter_is_left_out_and_news_is_not(text: str, level: int, said: bool) -> None:
    screen = Screen()
    screen.tell(None, text, level)
    assert screen.lines == ([text] if said else [])


def test_an_event_of_unknown_shape_does_not_stop_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", False)
    Screen().tell(LogEvent.JOB_INFO)


@pytest.mark.parametrize(
    ("seconds", "text"), [(4.23, "4.2 s"), (59.6, "1 min 00 s"), (200, "3 min 20 s"), (7530, "2 h 05 min")]
)
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_shorten_names_the_first_file_of_many() -> None:
    assert shorten("Missing output files: b, a, c; Params have changed") == (
        "Missing output files: a and 2 more; Params have changed"
    )


def test_tail_of_a_missing_log_is_empty(tmp_path: Path) -> None:
    assert tail(str(tmp_path / "none.log")) == []
