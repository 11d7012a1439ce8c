"""The lines that a run prints."""

from __future__ import annotations

import io

import pytest

from scaling_collapse.train.outcome import Outcome
from scaling_collapse.train.progress import LinePrinter, duration, percent

from .train_room import tiny_run


class Writes(io.StringIO):
    """Keeps each write apart."""

    def __init__(self) -> None:
        super().__init__()
        self.all: list[str] = []

    def write(self, text: str) -> int:
        self.all.append(text)
        return len(text)


def outcome(**changes: object) -> Outcome:
    fields = dict.fromkeys(Outcome.__dataclass_fields__, None) | {
        "status": "finished",
        "steps_done": 60,
        "final_loss_nats": 3.25,
        "final_validation_loss_nats": 3.5,
        "final_validation_bits_per_byte": 2.125,
        "seconds": 3725.0,
    }
    return Outcome(**{**fields, **changes})


def test_first_line_timed_lines_and_last_line() -> None:
    now, stream = [100.0], Writes()
    printer = LinePrinter("tiny-s0", every_seconds=10.0, stream=stream, clock=lambda: now[0])
    printer.started(tiny_run(), [6.0] * 20)
    for step in range(21, 61):
        now[0] += 3.0
        printer.stepped(step, loss=6.0 - step / 20, learning_rate=0.00213)
    printer.finished(outcome())
    assert len(stream.all) == 1 + 10 + 1
    assert all(line.startswith("tiny-s0                  ") and line.endswith("\n") for line in stream.all)
    assert "continues at step 20/60" in stream.all[0]
    # four steps of 3 s make 12 s: the first of them is step 24, 36 steps before the end
    assert stream.all[1].split(maxsplit=1)[1] == "40%  step 24/60  loss 4.875  lr 0.0021  43 tok/s  1:48 left\n"
    assert "100%  finished  loss 3.2500  held-out loss 3.5000 (2.1250 bits per byte)  1:02:05" in stream.all[-1]


def test_a_diverged_run_without_any_loss_still_has_a_last_line() -> None:
    stream = Writes()
    printer = LinePrinter("tiny-s0", stream=stream)
    printer.started(tiny_run(), [])
    missing = {"final_loss_nats": None, "final_validation_loss_nats": None, "final_validation_bits_per_byte": None}
    printer.finished(outcome(status="diverged", steps_done=0, **missing))
    assert "0%  diverged  loss none  held-out loss not finite" in stream.all[-1]


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0:00"), (45, "0:45"), (59.6, "1:00"), (3600, "1:00:00")])
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_hundred_percent_means_all() -> None:
    assert (percent(2579, 2580), percent(2580, 2580)) == ("99%", "100%")
