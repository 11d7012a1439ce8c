"""SIGTERM and Ctrl-C ask for a stop after the current step; a second one ends the process at once."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from scaling_collapse.errors import RunError

#: A terminal signals every process of a job, and their parents may pass the signal on: within this time it is one.
ECHO_SECONDS = 1.0


class RunStoppedError(RunError):
    """A signal ended a run early, after a checkpoint. The exit code is the shell's: 130 (Ctrl-C) or 143 (SIGTERM)."""

    def __init__(self, run_id: str, step: int, steps: int, signal_number: int) -> None:
        name = signal.Signals(signal_number).name
        super().__init__(
            run_id,
            f"stopped by {name} after step {step} of {steps}; checkpoint written.",
            "run the same command to continue.",
        )
        self.exit_code = 128 + signal_number


class StopRequest:
    """Remembers which signal asked for the stop; 0 = none."""

    signal_number = 0
    _since = 0.0

    def receive(self, signal_number: int, frame: FrameType | None = None) -> None:
        """Note the first signal. A later one ends the process at once, as if nobody had caught it."""
        if not self.signal_number:
            self.signal_number, self._since = signal_number, time.monotonic()
        elif time.monotonic() - self._since > ECHO_SECONDS:
            signal.signal(signal_number, signal.SIG_DFL)
            signal.raise_signal(signal_number)


@contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Catch SIGTERM and SIGINT in the block. Outside the main thread, where Python cannot, nothing is caught."""
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before = {number: signal.signal(number, request.receive) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
