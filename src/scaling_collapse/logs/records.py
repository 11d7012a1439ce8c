"""Parsers of formats whose file is records of named cells: JSONL, CSV, parquet, TensorBoard, W&B, trainer_state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from scaling_collapse.logs import names as known
from scaling_collapse.logs.flatten import flattened
from scaling_collapse.logs.layout import Layout, layout_of
from scaling_collapse.logs.notes import Notes
from scaling_collapse.logs.options import NUMBERED, Options
from scaling_collapse.logs.parser import (
    MAX_STEP,
    NAN,
    NO_STEP,
    NOT_A_NUMBER,
    NOT_A_STEP,
    Columns,
    Parser,
    Row,
    number,
    whole,
)

BOUNDS = "columns __MIN and __MAX, left out: they bound the losses beside them"
SUMMARIES = "summary records, left out: a mean over the whole training is no loss at a step"
VARIES = "facts with several values in one run, left out"
NO_LOSS = "records without a loss"

#: Different sets of names that are remembered; a log has a handful, garbage has many.
MAX_LAYOUTS = 1000

#: What a fact becomes once a run's records disagree on it.
VARIED = object()


class Records(Parser):
    """Turns cells into rows, whatever order and set of columns they come in."""

    def __init__(self, options: Options, notes: Notes) -> None:
        super().__init__(options, notes)
        self._layouts: dict[tuple[str, ...], Layout] = {}
        self._nested: dict[tuple[str, ...], bool] = {}
        self._told_steps = False
        self._number = 0

    def layout(self, names: tuple[str, ...]) -> Layout:
        """Return the layout of records with these names, and tell what it leaves out."""
        layout = self._layouts.get(names)
        if layout is None:
            if len(self._layouts) >= MAX_LAYOUTS:
                self._layouts.clear()
            layout = self._layouts[names] = layout_of(names, self.options)
            self.columns |= {name for name in (self.options.step, self.options.run_column) if name in names}
            if layout.bounds:
                self.notes.add(BOUNDS, count=layout.bounds)
        return layout

    def record(self, record: dict[str, Any], rows: list[Row]) -> None:
        """Append the losses of one object to `rows`; nested objects as if their keys were joined by "/"."""
        names = tuple(record)
        if self.is_nested(names, record.values()):
            record = flattened(record)
            names = tuple(record)
        self.take(self.layout(names), list(record.values()), rows)

    def is_nested(self, names: tuple[str, ...], cells: Iterable[Any]) -> bool:
        """Whether the first record with these names, or these cells of it, had objects within."""
        if names not in self._nested:
            if len(self._nested) >= MAX_LAYOUTS:
                self._nested.clear()
            self._nested[names] = any(isinstance(cell, dict) for cell in cells)
        return self._nested[names]

    def take(self, layout: Layout, cells: Sequence[Any], rows: list[Row]) -> None:
        """Append the losses of one record to `rows`."""
        place: tuple[str, int, float, float] | None = None
        for loss in layout.losses:
            value = cells[loss.cell]
            if value is None or value == "":
                continue
            parsed = number(value)
            if parsed is None:
                self.notes.add(NOT_A_NUMBER, f"{loss.column} = {value}", lost=True)
                continue
            if place is None:
                place = self._place(layout, cells)
                if place is None:
                    return
            run, step, lr, tokens = place
            rows.append((loss.run or run, self._column(layout, loss.column, cells), step, parsed, lr, tokens))
        if layout.summaries:
            self.notes.add(SUMMARIES)
        elif place is None:
            self.notes.add(NO_LOSS)

    def take_columns(self, layout: Layout, columns: Sequence[Sequence[Any]]) -> Columns | None:
        """Return rows given as columns of cells; None where a cell is not what the layout says, or rows differ."""
        several = len(layout.losses) != 1 or layout.split is not None or layout.summaries
        if several or layout.step is None or not self._told_steps or self.options.step == NUMBERED:
            return None
        loss, run = layout.losses[0], "" if layout.run is None else columns[layout.run][0]
        steps, losses = columns[layout.step], columns[loss.cell]
        if not isinstance(run, str) or (layout.run is not None and any(cell != run for cell in columns[layout.run])):
            return None
        if set(map(type, steps)) != {int} or max(steps) > MAX_STEP or min(steps) < -MAX_STEP:
            return None
        try:
            numbers = _floats(losses)
            lrs = None if layout.lr is None else _floats(columns[layout.lr])
            tokens = None if layout.tokens is None else _floats(columns[layout.tokens])
        except (TypeError, OverflowError):
            return None
        for fact, cell in layout.facts:
            for value, _ in groupby(columns[cell]):
                self._fact(run, fact, value)
        return Columns(loss.run or run, loss.column, steps, numbers, lrs, tokens)

    def _place(self, layout: Layout, cells: Sequence[Any]) -> tuple[str, int, float, float] | None:
        """Return run, step, learning rate and tokens of a record; None if it has no step that can be read."""
        run = "" if layout.run is None else _text(cells[layout.run])
        for fact, cell in layout.facts:
            self._fact(run, fact, cells[cell])
        tokens = NAN if layout.tokens is None else number(cells[layout.tokens])
        lr = NAN if layout.lr is None else number(cells[layout.lr])
        step = self._step(layout, cells)
        return None if step is None else (run, step, NAN if lr is None else lr, NAN if tokens is None else tokens)

    def _step(self, layout: Layout, cells: Sequence[Any]) -> int | None:
        if not self._told_steps:
            self._tell_steps(layout)
        if self.options.step == NUMBERED:
            self._number += 1
            return self._number
        cell = layout.tokens if layout.step is None else layout.step
        if cell is None or cells[cell] is None or cells[cell] == "":
            self.notes.add(NO_STEP, lost=True)
            return None
        step = whole(cells[cell])
        if step is None:
            self.notes.add(NOT_A_STEP, str(cells[cell]), lost=True)
        return step

    def _tell_steps(self, layout: Layout) -> None:
        self._told_steps = True
        name = layout.step_name
        if name is not None:
            unit = known.UNITS.get(name.lower(), "")
            if name == "Step":  # the W&B web export writes it so
                unit = known.UNITS["_step"]
            value = f"column {name!r}" + (f" ({unit})" if unit else "")
            self.said["step"] = (value, "--step")
        elif layout.tokens is not None:
            value = f"tokens of column {layout.names[layout.tokens]!r}, for want of a column of steps"
            self.said["step"] = (value, "--step")
        if layout.tokens is not None:
            self.said["tokens"] = (f"column {layout.names[layout.tokens]!r}", "--tokens-per-step")
        if layout.split is not None:
            self.said["split"] = (f"column {layout.names[layout.split]!r}", "--loss")
        if any(loss.run for loss in layout.losses):
            self.said["run"] = ("headings of the columns", "--run")
        if layout.run is not None:
            self.said["run"] = (f"column {layout.names[layout.run]!r}", "--run-column")

    def _column(self, layout: Layout, column: str, cells: Sequence[Any]) -> str:
        """Return the loss's column, with the record's split behind it where it has one."""
        split = "" if layout.split is None else _text(cells[layout.split])
        return f"{column}{known.SPLIT_MARK}{split}" if split else column

    def _fact(self, run: str, fact: str, value: Any) -> None:
        if value is None or value == "":
            return
        facts = self.facts.setdefault(run, {})
        old = facts.setdefault(fact, value)
        if old is not VARIED and old != value:
            self.notes.add(VARIES, f"{fact} is {old} and {value}")
            facts[fact] = VARIED


def _floats(cells: Sequence[Any]) -> Sequence[float]:
    """Return cells that are all numbers as floats. Raises TypeError or OverflowError where one is not."""
    kinds = set(map(type, cells))
    if not kinds <= {float, int}:
        raise TypeError("not numbers")
    return cells if kinds == {float} else list(map(float, cells))


def _text(value: Any) -> str:
    return "" if value is None else str(value)
