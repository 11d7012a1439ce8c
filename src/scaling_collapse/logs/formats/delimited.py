"""CSV with a header, however its rows are filled: plain tables, Lightning's metrics.csv, W&B API and web exports."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from operator import methodcaller
from typing import Any

from scaling_collapse.logs.layout import Layout
from scaling_collapse.logs.notes import Notes
from scaling_collapse.logs.options import Options
from scaling_collapse.logs.parser import DAMAGED, OTHER_LINES, Columns, Row, Rows
from scaling_collapse.logs.records import Records
from scaling_collapse.logs.text import decoded

DELIMITERS = ",\t;|"

#: Most lines that one cell in quotes may span.
MAX_CELL_LINES = 50

REPEATED_HEADER = "headers repeated between the rows"
SHORT = "rows shorter than the header: read as far as they go"
LONG = "rows longer than the header, left out"
CUT = "rows without a line end (the last one): the last number may be cut"


class Delimited(Records):
    """The first line that names a loss is the header; the delimiter is the one that gives it most cells."""

    name = "csv"

    def __init__(self, options: Options, notes: Notes) -> None:
        super().__init__(options, notes)
        self._header: Layout | None = None
        self._delimiter = ","
        self._held: list[str] = []

    def new_file(self) -> None:
        """Forget a row that was not complete; the header holds on until another comes."""
        self._held = []

    def read(self, data: bytes) -> Rows:
        """Return the losses of whole lines; a fast way for clean blocks of one loss a row, a careful one for others."""
        lines = [line for line in decoded(data, self.notes).split("\n") if line]
        if self._header is None:
            lines = self._find_header(lines)
        if self._header is None or not lines:
            return []
        one_loss = len(self._header.losses) == 1 and not self._held
        columns = self._fast(self._header, lines) if one_loss else None
        return self._careful(self._records(lines)) if columns is None else columns

    def end(self, tail: bytes = b"") -> Rows:
        """Return the losses of a last line without line end, and of lines behind a quote that is never closed."""
        rows = list(self.read(tail))
        if rows and not tail.endswith((b'"', b",")):
            self.notes.add(CUT, tail)
        held, self._held = self._held, []
        if held:
            self.notes.add(DAMAGED, held[0], lost=True)
            rows += self._careful(held[1:])
        return rows

    def _find_header(self, lines: list[str]) -> list[str]:
        """Set the header if a line names a loss; return the lines after it."""
        for place, line in enumerate(lines):
            delimiter = max(DELIMITERS, key=line.count)
            cells = _cells(line, delimiter) if delimiter in line else None
            layout = self.layout(tuple(cells)) if cells else None
            if layout is not None and layout.losses:
                self._header, self._delimiter = layout, delimiter
                return lines[place + 1 :]
            self.notes.add(OTHER_LINES, line)
        return []

    def _fast(self, header: Layout, lines: list[str]) -> Columns | None:
        """Return the rows of lines that are all complete and numbers; None if they are not."""
        try:
            columns = _columns(lines, self._delimiter, len(header.names))
            if columns is None:
                return None
            if header.step is not None:
                columns[header.step] = _wholes(columns[header.step])
            for cell in (header.lr, header.tokens, *(loss.cell for loss in header.losses)):
                if cell is not None:
                    columns[cell] = _floats(columns[cell])
        except (ValueError, csv.Error):
            return None
        return self.take_columns(header, columns)

    def _records(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield rows: lines, joined where a cell in quotes spans several."""
        for line in lines:
            odd = line.count('"') % 2
            if not self._held:
                if odd:
                    self._held = [line]
                else:
                    yield line
                continue
            self._held.append(line)
            if odd:
                yield "\n".join(self._held)
                self._held = []
            elif len(self._held) > MAX_CELL_LINES:
                self.notes.add(DAMAGED, self._held[0], lost=True)
                yield from self._held[1:]
                self._held = []

    def _careful(self, records: Iterable[str]) -> list[Row]:
        rows: list[Row] = []
        for record in records:
            cells = _cells(record, self._delimiter)
            if cells is None:
                self.notes.add(DAMAGED, record, count=record.count("\n") + 1, lost=True)
            elif not self._is_header(cells):
                self._row(cells, record, rows)
        return rows

    def _row(self, cells: list[str], record: str, rows: list[Row]) -> None:
        header = self._header
        assert header is not None
        missing = len(header.names) - len(cells)
        if missing > 0:
            self.notes.add(SHORT, record)
            cells += [""] * missing
        elif missing < 0 and any(cells[missing:]):
            self.notes.add(LONG, record, lost=True)
            return
        self.take(header, cells, rows)

    def _is_header(self, cells: list[str]) -> bool:
        """Whether a row is a header, the old one or (appended files, new metrics) another, which then holds."""
        if any(cell[:1].isdigit() or cell[:1] in ("-", "+", ".") for cell in cells if cell):
            return False
        layout = self.layout(tuple(cells))
        if layout.losses:
            self._header = layout
            self.notes.add(REPEATED_HEADER)
        return bool(layout.losses)


def _cells(line: str, delimiter: str) -> list[str] | None:
    """Return the cells of one line, without spaces around them; None if its quotes do not match."""
    try:
        rows = list(csv.reader([line], delimiter=delimiter, strict=True))
    except csv.Error:
        return None
    return [cell.strip() for cell in rows[0]] if rows else []


def _columns(lines: list[str], delimiter: str, width: int) -> list[Sequence[Any]] | None:
    """Return the columns of rows that all have `width` cells; None if they do not. Raises csv.Error for bad quotes."""
    joined = delimiter.join(lines)
    if '"' not in joined:
        if set(map(methodcaller("count", delimiter), lines)) != {width - 1}:
            return None
        cells = joined.split(delimiter)
        return [cells[place::width] for place in range(width)]
    rows = list(csv.reader(lines, delimiter=delimiter, strict=True))
    if len(rows) != len(lines) or set(map(len, rows)) != {width}:
        return None
    return list(zip(*rows, strict=True))


def _floats(cells: Sequence[str]) -> list[float]:
    """Return numbers; raises ValueError for a cell that is none, or that only Python takes for one (1_000)."""
    joined = "".join(cells)
    if "_" in joined or not joined.isascii():
        raise ValueError("not plain numbers")
    return list(map(float, cells))


def _wholes(cells: Sequence[str]) -> list[int]:
    """Return steps; raises ValueError for a cell that is not made of digits."""
    joined = "".join(cells)
    if not joined.replace(" ", "").isdigit() or not joined.isascii():
        raise ValueError("not plain whole numbers")
    return list(map(int, cells))
