"""Numbers and lists as a page says them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scaling_collapse.curves.normalise import smoothed_loss
from scaling_collapse.diagnose.alarm import Alarm
from scaling_collapse.figures import style
from scaling_collapse.predict.template import default_normalisation
from scaling_collapse.report.members import Member

UNKNOWN = "not known"

#: More names than this are counted, not listed.
MOST_NAMES = 4

LAST_LOSS = "Training losses are smoothed over their last part, so that the noise of one batch does not count."
TAU = (
    "The AdamW timescale: over which fraction of training the weights forget, batch/(learning rate x weight decay x "
    "tokens)."
)


def percent(value: float) -> str:
    """Return a percentage: 0.18%, 12%, 0.004%."""
    if not np.isfinite(value):
        return UNKNOWN
    return f"{value:.0f}%" if abs(value) >= 100 else f"{value:.2g}%" if abs(value) < 0.1 else f"{value:.3g}%"


def loss(value: float | None) -> str:
    """Return a loss [nats] with four digits after the point, or five in all where it is large."""
    if value is None or not np.isfinite(value):
        return UNKNOWN
    return f"{value:.4f}" if abs(value) < 10 else f"{value:.5g}"


def amount(value: float) -> str:
    """Return a number of parameters, tokens and the like: 132k, 1.8B."""
    return style.number(value) if np.isfinite(value) else UNKNOWN


def setting(value: float) -> str:
    """Return a setting with three digits."""
    return f"{value:.3g}" if np.isfinite(value) else UNKNOWN


def names(runs: Sequence[str]) -> str:
    """Return names of runs; of many, the first ones and how many more there are."""
    if len(runs) <= MOST_NAMES:
        return ", ".join(runs)
    return f"{', '.join(runs[: MOST_NAMES - 1])} and {len(runs) - MOST_NAMES + 1} more"


def count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: 1 run, 2 runs."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def place(alarm: Alarm, length_known: bool) -> str:
    """Return where a fault began: its step, and the fraction of training where that is known."""
    fraction = alarm.onset_fraction if length_known else None
    return f"step {alarm.onset_step:,}" + ("" if fraction is None else f" ({fraction:.0%} of training)")


def kind(alarm: Alarm) -> str:
    """Return the kind of an alarm in words."""
    return alarm.kind.replace("train_validation", "train-validation").replace("_", " ")


def kind_and_end(alarm: Alarm) -> str:
    """Return the kind of an alarm in words, and whether it is over."""
    return kind(alarm) + (", recovered" if alarm.recovered else "")


def status(member: Member) -> str:
    """Return how a run ended, or how far it is."""
    if member.diverged:
        return "diverged"
    if not member.length_known:
        return "length not known"
    return "finished" if member.finished else f"at {member.curve.t_hat[-1]:.0%}"


def last_loss(member: Member) -> float:
    """Return the final loss of a run as the measures take it, or the last one so far [nats]."""
    return float(smoothed_loss(member.curve, default_normalisation(member.curve.split))[-1])
