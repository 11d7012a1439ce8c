"""Following a log: look, tell, wait, until a signal, the time or the user ends it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from scaling_collapse.cli.on_alarm import OnAlarm
from scaling_collapse.cli.watch_log import LogWatch
from scaling_collapse.cli.watch_run import counts, is_told
from scaling_collapse.cli.watch_screen import Screen
from scaling_collapse.errors import LogError
from scaling_collapse.logs.formats.parquet import MAGIC
from scaling_collapse.logs.source import GZIP
from scaling_collapse.logs.tail import PIECE, Tail

#: Seconds between looks at the file: an alarm is told at most so late, and a look costs less than a millisecond.
LOOK_SECONDS = 1.0


def follow(log: Path, watch: LogWatch, screen: Screen, on_alarm: OnAlarm, seconds: float | None, wait: bool) -> None:
    """Follow `log` until Ctrl-C, SIGTERM or the end of `seconds`; what was written until then is read and judged.

    With `wait` the log need not be there yet. Raises LogError for a file that is not there, is packed, or holds no
    losses that could be recognised.
    """
    if not wait and not log.exists():
        raise LogError(str(log), "there is no such file.", "--wait waits for it")
    end = float("inf") if seconds is None else time.monotonic() + seconds
    with _stopping() as stop, Tail(log) as tail, screen:
        last = False
        while not last:
            last = stop.is_set() or time.monotonic() >= end
            _look(log, tail, watch, screen, on_alarm)
            if not last:
                screen.status(watch)
                stop.wait(max(0.0, min(LOOK_SECONDS, end - time.monotonic())))
        watch.end()
        tell(watch, screen, on_alarm)
        screen.status(watch, now=True)
        on_alarm.finish()
    if not watch.losses:
        raise _nothing(log)


def _look(log: Path, tail: Tail, watch: LogWatch, screen: Screen, on_alarm: OnAlarm) -> None:
    """Read what is new, and tell what follows from it."""
    for piece, begins in tail.pieces():
        if begins:
            watch.new_file()
        if not watch.losses:
            _check_kind(log, piece)
        unread = not watch.losses
        watch.feed(piece)
        if unread and watch.losses:
            _introduce(log, watch, screen)
        elif watch.follower.hopeless:
            raise _nothing(log)
        tell(watch, screen, on_alarm)
        if len(piece) == PIECE:  # a backlog, which takes a while
            screen.status(watch)
    on_alarm.look()


def tell(watch: LogWatch, screen: Screen, on_alarm: OnAlarm) -> None:
    """Show what is new, and run the user's command for new alarms that count."""
    for line in watch.said:
        screen.say(line)
    watch.said.clear()
    for news in watch.news():
        if is_told(news.alarm, watch.alarms):
            screen.alarm(news)
        if news.new and counts(news.alarm):
            on_alarm.add(news.alarm)
    on_alarm.look()


def _introduce(log: Path, watch: LogWatch, screen: Screen) -> None:
    """Say what was guessed."""
    parser = watch.follower.parser
    columns = "; ".join(f"{split}: column {column!r}" for column, split in watch.follower.columns.items())
    said = "" if parser is None else "".join(f"; {what}: {value}" for what, (value, _) in parser.said.items())
    screen.say(f"{log}: guessed format: {'' if parser is None else parser.name}; {columns}{said}")


def _check_kind(log: Path, head: bytes) -> None:
    if head.startswith((GZIP, MAGIC)):
        raise LogError(str(log), "a packed file or a parquet table does not grow.", "--once judges it as it is")


def _nothing(log: Path) -> LogError:
    if log.exists() and not log.stat().st_size:
        return LogError(str(log), "nothing was written to it.", "watch it for longer, or name the file that grows")
    fix = "name columns with --loss and --step, or a --format (collapse import shows what is there)"
    return LogError(str(log), "no losses were recognised in it.", fix)


@contextmanager
def _stopping() -> Iterator[threading.Event]:
    """Give an event that the first Ctrl-C or SIGTERM sets; the second one interrupts."""
    stop = threading.Event()

    def handle(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    signals = (signal.SIGINT, signal.SIGTERM)
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = [signal.signal(number, handle) for number in signals]
    try:
        yield stop
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)
