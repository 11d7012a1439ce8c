"""What a run tells while it trains: a protocol that any display can follow, and a plain printer of lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Protocol, TextIO

from scaling_collapse.plan.run import Run
from scaling_collapse.train.outcome import Outcome

#: Width of the run's name in a line, so that the lines of concurrent runs stand in columns.
NAME_WIDTH = 24


class Progress(Protocol):
    """Listener of one run. Calls come in the order of the methods; `said` at any time."""

    def said(self, text: str) -> None:
        """Take a remark: a resume, a damaged checkpoint, a divergence."""

    def started(self, run: Run, losses: Sequence[float]) -> None:
        """Training starts, after steps that are done already, with these training losses [nats/token]."""

    def stepped(self, step: int, loss: float, learning_rate: float) -> None:
        """A step is done; loss [nats/token], base learning rate."""

    def validated(self, step: int, loss: float) -> None:
        """Held-out text was read after a step; loss [nats/token]."""

    def finished(self, outcome: Outcome) -> None:
        """The outputs are written."""


class Quiet:
    """Says nothing."""

    def said(self, text: str) -> None: ...  # noqa: D102
    def started(self, run: Run, losses: Sequence[float]) -> None: ...  # noqa: D102
    def stepped(self, step: int, loss: float, learning_rate: float) -> None: ...  # noqa: D102
    def validated(self, step: int, loss: float) -> None: ...  # noqa: D102
    def finished(self, outcome: Outcome) -> None: ...  # noqa: D102


class LinePrinter:
    """Prints a line every few seconds; each line is one write, so concurrent runs do not mix within lines.

    `remark` is asked at each line for words to put at its end.
    """

    def __init__(
        self,
        run_id: str,
        every_seconds: float = 10.0,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
        remark: Callable[[], str] = str,
    ) -> None:
        self._remark = remark
        self._name, self._every, self._clock = f"{run_id:<{NAME_WIDTH}}", every_seconds, clock
        self._stream = sys.stderr if stream is None else stream

    def said(self, text: str) -> None:
        """Print a remark."""
        self._print(text)

    def started(self, run: Run, losses: Sequence[float]) -> None:
        """Print the first line: what is trained, and from where."""
        step = len(losses)
        self._run, self._first_step = run, step
        self._begin = self._last_line = self._clock()
        self._loss_sum, self._losses = 0.0, 0
        tau = "none" if run.tau is None else f"{run.tau:.3g}"
        self._print(
            f"{'continues' if step else 'starts'} at step {step}/{run.steps}  {run.params:,} parameters  "
            f"{run.tokens:,} tokens  tau {tau}"
        )

    def stepped(self, step: int, loss: float, learning_rate: float) -> None:
        """Count a step; print if a line is due. The loss shown is the mean since the last line."""
        self._loss_sum += loss
        self._losses += 1
        now = self._clock()
        if now - self._last_line < self._every:
            return
        done, run = step - self._first_step, self._run
        seconds_per_step, remark = (now - self._begin) / done, self._remark()
        self._print(
            f"{percent(step, run.steps):>4}  step {step}/{run.steps}  loss {self._loss_sum / self._losses:.3f}  "
            f"lr {learning_rate:.2g}  {run.batch_tokens / seconds_per_step:,.0f} tok/s  "
            f"{duration((run.steps - step) * seconds_per_step)} left"
            f"{'  ' if remark else ''}{remark}"
        )
        self._last_line, self._loss_sum, self._losses = now, 0.0, 0

    def validated(self, step: int, loss: float) -> None:
        """Say nothing: the losses are in the run's outputs."""

    def finished(self, outcome: Outcome) -> None:
        """Print the last line: status, final losses, time."""
        validation = outcome.final_validation_loss_nats
        bits = outcome.final_validation_bits_per_byte
        loss = "none" if outcome.final_loss_nats is None else f"{outcome.final_loss_nats:.4f}"
        held_out = "not finite" if validation is None else f"{validation:.4f}"
        held_out += "" if bits is None else f" ({bits:.4f} bits per byte)"
        self._print(
            f"{percent(outcome.steps_done, self._run.steps):>4}  {outcome.status}  loss {loss}  "
            f"held-out loss {held_out}  {duration(outcome.seconds)}"
        )

    def _print(self, text: str) -> None:
        self._stream.write(f"{self._name} {text}\n")
        self._stream.flush()


def percent(step: int, steps: int) -> str:
    """Return the share that is done, rounded down, so that 100% means all."""
    return f"{100 * step // steps}%"


def duration(seconds: float) -> str:
    """Return minutes and seconds, 0:45, or hours, minutes and seconds, 1:02:45."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
