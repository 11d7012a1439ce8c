"""Losses of one log in memory: 36 bytes each, in the order of the file."""

from __future__ import annotations

from array import array

import numpy as np

from scaling_collapse.logs.parser import NAN, Columns, Rows


class Store:
    """Columns of rows; a series is a (run, column)."""

    def __init__(self) -> None:
        self.series: list[tuple[str, str]] = []
        self._codes: dict[tuple[str, str], int] = {}
        self._code, self._step = array("i"), array("q")
        self._loss, self._lr, self._tokens = array("d"), array("d"), array("d")

    def __len__(self) -> int:
        return len(self._step)

    def extend(self, rows: Rows) -> None:
        """Append rows."""
        if isinstance(rows, Columns):
            self._extend_series(rows)
            return
        if not rows:
            return
        runs, names, steps, losses, lrs, tokens = zip(*rows, strict=True)
        pairs = list(zip(runs, names, strict=True))
        for pair in dict.fromkeys(pairs):
            self._code_of(pair)
        self._code.extend(map(self._codes.__getitem__, pairs))
        self._step.extend(steps)
        self._loss.extend(losses)
        self._lr.extend(lrs)
        self._tokens.extend(tokens)

    def _extend_series(self, rows: Columns) -> None:
        unknown = array("d", [NAN]) * len(rows)
        self._code.extend(array("i", [self._code_of((rows.run, rows.column))]) * len(rows))
        self._step.extend(rows.steps)
        self._loss.extend(rows.losses)
        self._lr.extend(unknown if rows.lrs is None else rows.lrs)
        self._tokens.extend(unknown if rows.tokens is None else rows.tokens)

    def _code_of(self, series: tuple[str, str]) -> int:
        code = self._codes.setdefault(series, len(self.series))
        if code == len(self.series):
            self.series.append(series)
        return code

    @property
    def code(self) -> np.ndarray:
        """Index into `series` of each loss, shape (n,)."""
        return np.frombuffer(self._code, dtype=np.int32)

    @property
    def step(self) -> np.ndarray:
        """Steps, shape (n,)."""
        return np.frombuffer(self._step, dtype=np.int64)

    @property
    def loss(self) -> np.ndarray:
        """Losses, shape (n,)."""
        return np.frombuffer(self._loss)

    @property
    def lr(self) -> np.ndarray:
        """Learning rates, NaN where not said, shape (n,)."""
        return np.frombuffer(self._lr)

    @property
    def tokens(self) -> np.ndarray:
        """Tokens seen, NaN where not said, shape (n,)."""
        return np.frombuffer(self._tokens)
