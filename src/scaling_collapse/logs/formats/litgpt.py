"""litgpt/pretrain.py: `Epoch 1 | iter 8 step 2 | loss train: 3.4, val: n/a | ..` and `iter 8: val loss 3.5, ..`."""

from __future__ import annotations

import re

from scaling_collapse.logs.console import DIGITS, STEP, TRAIN, VALIDATION, Console
from scaling_collapse.logs.notes import Notes
from scaling_collapse.logs.options import Options
from scaling_collapse.logs.parser import NAN, NO_STEP, Row


class LitGpt(Console):
    """Iterations are micro-batches; steps are the optimiser's. A validation belongs to the step of its iteration."""

    name = "litgpt"
    PATTERN = re.compile(
        rb"Epoch \d{1,9} ?\| iter (%s) step (%s) ?\| loss train: (%s), val: (?P<train>)" % (STEP, STEP, DIGITS)
        + rb"|iter (%s): val loss (%s), (?P<val>)" % (STEP, DIGITS)
    )
    BEGINS = re.compile(rb"Epoch \d+ ?\| iter \d+|iter \d+: val")

    def __init__(self, options: Options, notes: Notes) -> None:
        super().__init__(options, notes)
        self._last = (0, 0)

    def take(self, found: re.Match[bytes], rows: list[Row]) -> None:
        """Append one loss."""
        if found.lastgroup == "train":
            self._last = (int(found[1]), int(found[2]))
            rows.append(("", TRAIN, self._last[1], float(found[3]), NAN, NAN))
            return
        iteration = int(found[5])
        last, step = self._last
        if iteration != last and last >= step > 0 and last % step == 0:
            step = iteration // (last // step)
        elif iteration != last:
            self.notes.add(NO_STEP, found.string, lost=True)
            return
        rows.append(("", VALIDATION, step, float(found[6]), NAN, NAN))
