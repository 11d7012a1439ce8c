"""DeepSpeed's pipeline engine: `steps: N loss: X iter time (s): ..` (deepspeed/runtime/pipe/engine.py, train_batch).

The learning rate stands in lines of its own, `step=N, skipped=0, lr=[Y]` (runtime/engine.py, _report_progress).
"""

from __future__ import annotations

import re

from scaling_collapse.logs.console import DIGITS, STEP, TRAIN, Console
from scaling_collapse.logs.notes import Notes
from scaling_collapse.logs.options import Options
from scaling_collapse.logs.parser import NAN, Row


class DeepSpeed(Console):
    """Steps are optimiser steps, from 1."""

    name = "deepspeed"
    ANYWHERE = True
    PATTERN = re.compile(
        rb"steps?: {1,8}(%s) (?:/ {1,8}%s )?loss: (%s) (?:[^\n]{0,400}?)iter time \(s\)(?P<train>)"
        % (STEP, STEP, DIGITS)
        + rb"|step=(%s), skipped=\d{1,15}, lr=\[(%s)[,\]](?P<lr>)" % (STEP, DIGITS)
    )
    BEGINS = re.compile(rb"steps?: +\d+ (?:/ +\d+ )?loss: ")

    def __init__(self, options: Options, notes: Notes) -> None:
        super().__init__(options, notes)
        self._lr = (-1, NAN)

    def take(self, found: re.Match[bytes], rows: list[Row]) -> None:
        """Append one loss, with the learning rate of its step if that was printed before."""
        if found.lastgroup == "lr":
            self._lr = (int(found[4]), float(found[5]))
        else:
            step = int(found[1])
            rows.append(("", TRAIN, step, float(found[2]), self._lr[1] if self._lr[0] == step else NAN, NAN))
