"""torchtitan/components/metrics.py: `step: 10  loss: 3.4  grad_norm: ..` and `validate step: 10  loss: ..`."""

from __future__ import annotations

import re

from scaling_collapse.logs.console import DIGITS, STEP, TRAIN, VALIDATION, Console
from scaling_collapse.logs.parser import NAN, Row


class TorchTitan(Console):
    """Colours are taken out first; ranks and times may stand before."""

    name = "torchtitan"
    ANYWHERE = True
    PATTERN = re.compile(
        rb"(validate )?step: {1,8}(%s) {1,4}loss: {1,8}(%s) {1,4}[a-z](?P<loss>)" % (STEP, DIGITS),
    )
    BEGINS = re.compile(rb"step: +\d+ +loss:")

    def take(self, found: re.Match[bytes], rows: list[Row]) -> None:
        """Append one loss."""
        rows.append(("", VALIDATION if found[1] else TRAIN, int(found[2]), float(found[3]), NAN, NAN))
