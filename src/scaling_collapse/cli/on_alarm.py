"""The user's command for alarms: once for each, one at a time, beside the watching and never in its way.

What an alarm says goes in as environment variables. The command line is the user's alone, so no name of a run, which is
anybody's text, can become a part of it.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from scaling_collapse.cli.watch_run import printable
from scaling_collapse.diagnose.alarm import Alarm

#: A command that takes longer is left to itself, and the next one starts.
LONGEST_SECONDS = 60.0

#: Characters of a value, far below what an environment holds, and bytes of output that are shown.
LONGEST_VALUE, SHOWN_BYTES = 2000, 2000

#: Seconds between looks at a command that is waited for.
LOOK_SECONDS = 0.02


@dataclass
class _Running:
    process: subprocess.Popen[bytes]
    output: IO[bytes]
    begun: float


class OnAlarm:
    """Runs `command` in a shell for alarms of `log`; `say` gets what it prints, and how it failed.

    Nothing is done without a command.
    """

    def __init__(self, command: str | None, log: Path, say: Callable[[str], None]) -> None:
        self._command, self._log, self._say = command, log, say
        self._waiting: deque[Alarm] = deque()
        self._running: _Running | None = None

    def add(self, alarm: Alarm) -> None:
        """Run the command for an alarm, when those before are done."""
        if self._command is not None:
            self._waiting.append(alarm)

    def look(self) -> None:
        """Tell how a command ended, and start the next one."""
        if self._running is not None and self._is_over(self._running):
            self._running = None
        while self._running is None and self._waiting:
            self._running = self._start(self._waiting.popleft())

    def finish(self) -> None:
        """Wait until all are done."""
        self.look()
        while self._running is not None:
            time.sleep(LOOK_SECONDS)
            self.look()

    def _start(self, alarm: Alarm) -> _Running | None:
        output = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the command is over
        try:
            process = subprocess.Popen(
                self._command or "",
                shell=True,
                env=os.environ | variables(alarm, self._log),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C ends the watching, not a message on its way
            )
        except (OSError, ValueError) as error:
            output.close()
            self._say(f"--on-alarm could not be started ({error})")
            return None
        return _Running(process, output, time.monotonic())

    def _is_over(self, running: _Running) -> bool:
        """Whether a command needs no more waiting for; say what there is to say of it then."""
        code = running.process.poll()
        if code is None:
            if time.monotonic() - running.begun < LONGEST_SECONDS:
                return False
            self._say(f"--on-alarm is not done after {LONGEST_SECONDS:.0f} s, and is left to itself")
        running.output.seek(0)
        for line in running.output.read(SHOWN_BYTES).decode("utf-8", "replace").splitlines():
            self._say(f"--on-alarm: {printable(line)}")
        running.output.close()
        if code:
            self._say(f"--on-alarm failed with exit code {code}; the watching goes on")
        return True


def variables(alarm: Alarm, log: Path) -> dict[str, str]:
    """Return what the command finds in its environment."""
    values = {
        "RUN": alarm.run,
        "KIND": alarm.kind,
        "STEP": str(alarm.onset_step),
        "FRACTION": "" if alarm.onset_fraction is None else f"{alarm.onset_fraction:.4f}",
        "RECOVERED": str(int(alarm.recovered)),
        "ALARM_STEP": str(alarm.alarm_step),
        "EVIDENCE": alarm.evidence,
        "LOG": str(log.absolute()),
    }
    return {f"COLLAPSE_{name}": printable(value)[:LONGEST_VALUE] for name, value in values.items()}
