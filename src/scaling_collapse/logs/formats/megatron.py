"""Megatron-LM, Megatron-DeepSpeed and GPT-NeoX: ` iteration 10/ 100 | consumed samples: .. | lm loss: .. |`.

Lines: training_log and evaluate_and_print_results in megatron/training/training.py; `consumed tokens` is
Megatron-DeepSpeed's, `lm_loss` GPT-NeoX's. The arguments that are printed before training tell of the run.
"""

from __future__ import annotations

import re

from scaling_collapse.logs.console import NUMBER, STEP, Console
from scaling_collapse.logs.names import is_loss
from scaling_collapse.logs.notes import Notes
from scaling_collapse.logs.options import Options
from scaling_collapse.logs.parser import DAMAGED, NAN, Row

SKIPPED = "iterations without a loss (skipped ones)"

#: Arguments that are columns of our table.
ARGUMENTS = {"lr": "lr_peak", "weight_decay": "weight_decay", "seed": "seed", "lr_decay_style": "schedule"}

_FIELD = re.compile(rb"([A-Za-z][^:|]{1,60}): {0,16}(%s)(?: |$)" % NUMBER)
_ARGUMENT = re.compile(rb"(?:^|[ \]:])([a-z_]{1,40}) \.{3,80} (\S{1,60})\s*$")
_SET = re.compile(rb"(\S{1,60}) loss at $")


class Megatron(Console):
    """Every loss of a line is a column of its own; the text before a validation line names its set."""

    name = "megatron"
    ANYWHERE = True
    PATTERN = re.compile(
        rb"iteration\s{1,12}(%s)(?:/\s{0,12}%s \|(?P<train>)" % (STEP, STEP)
        + rb"|( on [^|]{1,60} set)? \| lm loss value: {0,4}(%s) \|(?P<val>))" % NUMBER
    )
    BEGINS = re.compile(rb"iteration\s+\d+/\s*\d+ \||loss at iteration \d+")

    def __init__(self, options: Options, notes: Notes) -> None:
        super().__init__(options, notes)
        self._sequence = NAN
        self._global_batch = NAN

    def take(self, found: re.Match[bytes], rows: list[Row]) -> None:
        """Append the losses of a line."""
        step, line = int(found[1]), found.string
        if found.lastgroup == "val":
            before = _SET.search(line, 0, found.start())
            label = "validation" if before is None else before[1].decode("ascii", "replace")
            label += "" if found[3] is None else found[3].decode("ascii", "replace")
            rows.append(("", f"{label} loss", step, float(found[4]), NAN, NAN))
            return
        fields = dict(_fields(line[found.end() :]))
        lr = fields.get(b"learning rate", NAN)
        tokens = fields.get(b"consumed tokens", fields.get(b"consumed samples", NAN) * self._sequence)
        self._batch(fields)
        losses = [(key.decode(), value) for key, value in fields.items() if b"loss" in key]
        losses = [(key, value) for key, value in losses if is_loss(key)]
        if not losses:
            self.notes.add(SKIPPED if line.rstrip().endswith(b"|") else DAMAGED, line, lost=True)
        rows.extend(("", key, step, value, lr, tokens) for key, value in losses)

    def _batch(self, fields: dict[bytes, float]) -> None:
        """Tell the batch in tokens while it is constant; a ramp-up of the batch leaves it unknown."""
        batch = fields.get(b"global batch size", NAN)
        if batch != self._global_batch:
            ramp = self._global_batch == self._global_batch
            self._global_batch = batch
            if batch * self._sequence > 0:
                self.fact("", "batch_tokens", NAN if ramp else batch * self._sequence)

    def _other(self, line: bytes) -> None:
        argument = _ARGUMENT.search(line) if b" ..." in line else None
        if argument is None:
            super()._other(line)
            return
        name, value = argument[1].decode(), argument[2].decode("utf-8", "replace")
        if name == "seq_length" and value.isdigit():
            self._sequence = float(value)
        elif name in ARGUMENTS and value != "None":
            self.fact("", ARGUMENTS[name], value)


def _fields(text: bytes) -> list[tuple[bytes, float]]:
    """Return the "name: number" fields between bars."""
    fields = []
    for part in text.split(b"|"):
        found = _FIELD.match(part.lstrip())
        if found is not None:
            fields.append((found[1], float(found[2])))
    return fields
