"""What `snakemake` says while it works: stage n of m, the command of each stage, and failures with their log.

Snakemake finds this plugin by its name and uses it because `profiles/default` says `logger: collapse`; with
`snakemake --workflow-profile none` its own, longer messages come back. Lines suit a terminal and a log file alike:
two trainings at once just alternate. The full story is always kept in `.snakemake/log`.
"""

from __future__ import annotations

import re
import time
from collections import deque
from logging import WARNING, LogRecord
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

TARGETS = {"all", "back_test", "headline"}  # a rule that only names what to make is no stage
SAID_TWICE = ("CalledProcessError in file", "Exiting because a job execution failed")  # failure() says it better
REDIRECTION = re.compile(r"\s+(2>&1|>).*", re.DOTALL)  # where a stage's words go; not to be pasted
WORTH_SAYING = ("Cache: ", "Nothing to be done", "Unlocked", "Terminating processes", "Will exit after finishing")
FORCED = (
    "Forced execution"  # what Snakemake calls a stage that our cache found out of date, as well as one that -f names
)
OUT_OF_DATE = "it was never made with these settings, code, packages and inputs (`collapse why`), or you force it"
LOG_TAIL = 5  # last lines of a failed stage's log that are shown


def duration(seconds: float) -> str:
    """A span of time in the two units that matter: 4.2 s, 3 min 20 s, 2 h 05 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def shorten(reason: str) -> str:
    """Name the first of many files: "Missing output files: a.csv and 3 more; Params have changed"."""
    parts = []
    for part in reason.replace(FORCED, OUT_OF_DATE).split("; "):
        head, _, files = part.partition(": ")
        first, *more = sorted(files.split(", "))
        parts.append(f"{head}: {first} and {len(more)} more" if more else part)
    return "; ".join(parts)


def tail(path: str, lines: int = LOG_TAIL) -> list[str]:
    """Return the last lines of a log; none when it cannot be read."""
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as log:
            return [line.rstrip() for line in deque(log, maxlen=lines)]
    except OSError:
        return []


class LogHandler(LogHandlerBase):
    """Turns Snakemake's events into short lines on stderr."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = False  # of its own: options such as --quiet work as ever
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        self.console = Console(stderr=True, highlight=False, soft_wrap=True)
        self.total: int | None = None  # stages; unknown until the plan is told
        self.finished = 0
        self.running: dict[int, tuple[str, float]] = {}  # job -> (what it does, start)
        self.numbers: dict[int, int] = {}  # job -> its number, in the order of starts; a retry keeps it
        self.failed: dict[int, str] = {}
        self.targets: set[int] = set()
        self.interrupted = False

    def emit(self, record: LogRecord) -> None:
        """Say one event; a fault in here must never stop the work."""
        handlers = {
            LogEvent.RUN_INFO: self.plan,
            LogEvent.JOB_INFO: self.start,
            LogEvent.SHELLCMD: self.command,
            LogEvent.JOB_FINISHED: self.finish,
            LogEvent.JOB_ERROR: self.failure,
        }
        try:
            event = getattr(record, "event", None)
            if event in handlers:
                handlers[event](record.__dict__)
            elif record.levelno >= WARNING or str(record.msg).startswith(WORTH_SAYING):
                self.other(str(record.msg), "red" if record.levelno > WARNING else "yellow")
        except Exception:
            self.handleError(record)

    def say(self, text: str, style: str | None = None) -> None:
        """Print without reading the text as markup."""
        self.console.print(escape(text), style=style)

    def label(self, job: int) -> str:
        """Number of a stage, [ 3/21]."""
        width = len(str(self.total or 0))
        return f"[{self.numbers.get(job, 0):>{width}}/{self.total}]"

    def plan(self, event: dict[str, Any]) -> None:
        """First event of a run: how many stages of which kind there are."""
        if self.total is not None:  # a dry run says it twice
            return
        stats = {rule: count for rule, count in event["stats"].items() if rule not in TARGETS | {"total"}}
        self.total = sum(stats.values())
        many = {rule: count for rule, count in stats.items() if count > 1}
        kinds = [f"{count} {rule}" for rule, count in many.items()] + [rule for rule in stats if rule not in many][:8]
        rest = len(stats) - len(kinds)
        count = "1 stage" if self.total == 1 else f"{self.total} stages"
        self.say(f"{count}: {', '.join(kinds)}{f' and {rest} more' if rest else ''}", "bold")

    def start(self, event: dict[str, Any]) -> None:
        """A stage starts, or in a dry run would start, and why."""
        job, rule = event["jobid"], event["rule_name"]
        if rule in TARGETS:
            self.targets.add(job)
            return
        text = event["rule_msg"] or rule
        again = " again" if job in self.numbers else ""
        self.numbers.setdefault(job, len(self.numbers) + 1)
        self.running[job] = (text, time.monotonic())
        self.say(f"{self.label(job)} {text}{again}", "green")
        if self.common_settings.dryrun and event["reason"]:
            self.say(f"        because: {shorten(event['reason'])}")

    def command(self, event: dict[str, Any]) -> None:
        """The stage's command, ready to be pasted into a terminal."""
        if self.common_settings.printshellcmds and event["shellcmd"]:
            self.say(f"        {REDIRECTION.sub('', event['shellcmd'].strip())}", "dim")

    def finish(self, event: dict[str, Any]) -> None:
        """A stage is done."""
        job = event["job_id"]
        if job in self.targets:
            return
        self.finished += 1
        self.failed.pop(job, None)
        text, since = self.running.pop(job, ("", time.monotonic()))
        took = duration(time.monotonic() - since)
        self.say(f"{self.label(job)} {text}: done in {took}; {self.finished} of {self.total} stages done")

    def failure(self, event: dict[str, Any]) -> None:
        """A failed stage: where its log is and what it said last. Other stages go on."""
        job = event["jobid"]
        text, _ = self.running.pop(job, (event["rule_name"], 0.0))
        self.failed[job] = text
        if self.interrupted:
            self.say(f"{self.label(job)} {text}: stopped", "yellow")
            return
        logs = [str(log).split(" (")[0] for log in event["log"]]
        self.say(f"{self.label(job)} {text}: FAILED" + (f"; its log: {', '.join(logs)}" if logs else ""), "bold red")
        for log in logs:
            for line in tail(log):
                self.say(f"        {line}", "red")

    def other(self, text: str, colour: str) -> None:
        """Warnings and errors that belong to no stage, and the end of a run in which stages failed."""
        self.interrupted = self.interrupted or text.startswith("Terminating processes")
        if "At least one job did not complete" in text and self.failed:
            what = "Stopped" if self.interrupted else "Failed"
            self.say(f"{what}: {'; '.join(self.failed.values())}. {self.finished} of {self.total} stages done.", colour)
            self.say("The same command goes on from here: what is done stays done.", colour)
        elif not any(words in text for words in SAID_TWICE):
            self.say(text, colour)
