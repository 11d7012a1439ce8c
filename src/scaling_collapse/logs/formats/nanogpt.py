"""What nanoGPT's train.py prints: `iter N: loss X, time ..` and `step N: train loss X, val loss Y`."""

from __future__ import annotations

import re

from scaling_collapse.logs.console import DIGITS, STEP, VALIDATION, Console
from scaling_collapse.logs.parser import NAN, Row

#: The loss of the training text that is estimated beside the validation loss; `iter` lines hold the batch's.
ESTIMATED = "estimated train loss"


class NanoGpt(Console):
    """Steps count from 0, before the update."""

    name = "nanogpt"
    PATTERN = re.compile(
        rb"iter (%s): loss (%s), (?P<train>)" % (STEP, DIGITS)
        + rb"|step (%s): train loss (%s), val loss (%s)(?:\s*$|,)(?P<both>)" % (STEP, DIGITS, DIGITS)
        + rb"|tokens per iteration will be: ([\d,]{1,20})\s*$(?P<batch>)"
    )
    BEGINS = re.compile(rb"iter \d+|step \d+: train")

    def take(self, found: re.Match[bytes], rows: list[Row]) -> None:
        """Append one or two losses, or remember the batch."""
        if found.lastgroup == "train":
            rows.append(("", "train loss", int(found[1]), float(found[2]), NAN, NAN))
        elif found.lastgroup == "both":
            step, estimated, loss = int(found[4]), float(found[5]), float(found[6])
            rows += [("", ESTIMATED, step, estimated, NAN, NAN), ("", VALIDATION, step, loss, NAN, NAN)]
        else:
            self.fact("", "batch_tokens", int(found[8].replace(b",", b"") or 0))
