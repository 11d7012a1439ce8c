"""Which alarms end a training, where the user wants alarms to."""

from __future__ import annotations

from collections.abc import Collection
from typing import get_args

from scaling_collapse.diagnose.alarm import Alarm, Kind
from scaling_collapse.errors import ConfigError

#: What True stands for: faults of training that do not go away by themselves. A spike that stays becomes a divergence.
LASTING: tuple[Kind, ...] = ("drift", "divergence", "slow_convergence", "train_validation_split")


def stopping_kinds(wanted: bool | Collection[str]) -> frozenset[str]:
    """Return the kinds of alarm that end a training: none for False, LASTING for True, else those named.

    Raises ConfigError for a name that is no kind.
    """
    if isinstance(wanted, bool):
        return frozenset(LASTING if wanted else ())
    kinds = [wanted] if isinstance(wanted, str) else list(wanted)
    unknown = [kind for kind in kinds if kind not in get_args(Kind)]
    if unknown:
        raise ConfigError("stop_on_alarm", f"there is no alarm {unknown[0]!r}.", f"use of {', '.join(get_args(Kind))}")
    return frozenset(kinds)


def ends_training(alarm: Alarm, kinds: frozenset[str]) -> bool:
    """Whether an alarm, new or changed, is of one of `kinds` and not over."""
    return alarm.kind in kinds and not alarm.recovered
