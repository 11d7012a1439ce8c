"""modded-nanogpt: `step:125/5100 val_loss:3.4 train_time:..` (train_gpt.py), after a print of its own source code."""

from __future__ import annotations

import re

from scaling_collapse.logs.console import DIGITS, STEP, TRAIN, VALIDATION, Console
from scaling_collapse.logs.parser import NAN, Row


class ModdedNanoGpt(Console):
    """`step:N` counts updates that were made; newer versions print no training loss."""

    name = "modded_nanogpt"
    PATTERN = re.compile(rb"step:(%s)/%s (train|val)_loss:(%s) (?P<loss>)" % (STEP, STEP, DIGITS))
    BEGINS = re.compile(rb"step:\d+/\d+ (?:train|val)_loss")

    def take(self, found: re.Match[bytes], rows: list[Row]) -> None:
        """Append one loss."""
        rows.append(("", TRAIN if found[2] == b"train" else VALIDATION, int(found[1]), float(found[3]), NAN, NAN))
