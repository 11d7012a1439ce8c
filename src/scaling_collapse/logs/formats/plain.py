"""Any other log with a step and a loss in one line: the last resort, taken only if no known format is there."""

from __future__ import annotations

import re

from scaling_collapse.logs.console import NUMBER, STEP, Console
from scaling_collapse.logs.names import is_loss
from scaling_collapse.logs.parser import NAN, Row

_LOSS = re.compile(rb"([A-Za-z_/]{0,30}[ _/]?[Ll]oss)['\"]?[ :=]{1,4}(%s)(?![\w.\x1a])" % NUMBER)


class PlainLog(Console):
    """Each number after a word that ends in "loss" is a column, named by the words before it."""

    name = "plain"
    ANYWHERE = True
    PATTERN = re.compile(rb"(?<![A-Za-z])(?:[sS]tep|[iI]ter|[iI]teration)s?['\"]?[ :=#\[]{1,8}(%s)(?![\w.])" % STEP)
    BEGINS = re.compile(rb"(?!)")

    def take(self, found: re.Match[bytes], rows: list[Row]) -> None:
        """Append the losses that stand after the step."""
        any_loss = False
        for name, value in _LOSS.findall(found.string, found.end()):
            column = " ".join(name.decode("ascii").split()).lower()
            if is_loss(column):
                rows.append(("", column, int(found[1]), float(value), NAN, NAN))
                any_loss = True
        if not any_loss:
            self._other(found.string)
