"""llm.c: main.log (`s:N trl:X lr:Y norm:Z`, `s:N tel:X`; llmc/logger.h) and the console of train_gpt2.cu."""

from __future__ import annotations

import re

from scaling_collapse.logs.console import DIGITS, STEP, TRAIN, VALIDATION, Console
from scaling_collapse.logs.notes import Notes
from scaling_collapse.logs.options import Options
from scaling_collapse.logs.parser import NAN, Row


class LlmC(Console):
    """main.log counts steps from 0, the console from 1; the console's `val loss` is after the step before it."""

    name = "llmc"
    PATTERN = re.compile(
        rb"s:(%s) trl:(%s)(?: lr:(%s))?(?: norm:%s)?\s*$(?P<train>)" % (STEP, DIGITS, DIGITS, DIGITS)
        + rb"|s:(%s) tel:(%s)\s*$(?P<val>)" % (STEP, DIGITS)
        + rb"|step\s{1,8}(%s)/\s{0,8}\d{1,15} \| (?:train )?loss (%s) [^\n]{0,40}?\| norm" % (STEP, DIGITS)
        + rb"(?: (?:%s)[^|]{0,20}\| lr (%s) )?(?P<console>)" % (DIGITS, DIGITS)
        + rb"|val loss (%s)\s*$(?P<console_val>)" % DIGITS
    )
    BEGINS = re.compile(rb"s:\d+ (?:trl|tel):|step\s+\d+/")

    def __init__(self, options: Options, notes: Notes) -> None:
        super().__init__(options, notes)
        self._step = 0

    def take(self, found: re.Match[bytes], rows: list[Row]) -> None:
        """Append one loss."""
        kind = found.lastgroup
        if kind == "train":
            lr = float(found[3]) if found[3] is not None else NAN
            rows.append(("", TRAIN, int(found[1]), float(found[2]), lr, NAN))
        elif kind == "val":
            rows.append(("", VALIDATION, int(found[5]), float(found[6]), NAN, NAN))
        elif kind == "console":
            self._step = int(found[8])
            lr = float(found[10]) if found[10] is not None else NAN
            rows.append(("", TRAIN, self._step, float(found[9]), lr, NAN))
        else:
            rows.append(("", VALIDATION, self._step, float(found[12]), NAN, NAN))
