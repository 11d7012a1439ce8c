"""Which columns of a record are what: found once for each set of names, from the names alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from scaling_collapse.logs import names as known
from scaling_collapse.logs.options import Options

#: Hugging Face's last record: means over the whole training beside `train_runtime`, at the last step.
SUMMARY_MARK = "train_runtime"

_BOUND = re.compile(r"__(MIN|MAX)$")


@dataclass(frozen=True)
class Loss:
    """A loss in cell `cell`, of run `run` ("" unless the name says it)."""

    cell: int
    run: str
    column: str


@dataclass(frozen=True)
class Layout:
    """Cells of a record, by number. `bounds` and `summaries` count columns that hold no loss at the record's step."""

    names: tuple[str, ...]
    losses: tuple[Loss, ...]
    step: int | None
    tokens: int | None
    lr: int | None
    run: int | None
    split: int | None
    facts: tuple[tuple[str, int], ...]
    bounds: int = 0
    summaries: int = 0

    @property
    def step_name(self) -> str | None:
        """Name of the column of steps."""
        return None if self.step is None else self.names[self.step]


def layout_of(names: Sequence[str], options: Options) -> Layout:
    """Return what the columns `names` are; a layout without losses where there are none."""
    cells = {name: cell for cell, name in reversed(list(enumerate(names)))}

    def cell_of(name: str | None) -> int | None:
        return None if name is None else cells.get(name)

    tokens = known.first_of(known.TOKENS, names)
    step = options.step if options.step in cells else known.first_of(known.STEPS, names)
    facts = {fact: cell_of(known.first_of(spellings, names)) for fact, spellings in known.FACT_NAMES.items()}
    chosen = [name for name in cells if _is_wanted(name, options) or known.is_loss(_metric(name)[1])]
    bounds = [name for name in cells if _BOUND.search(name)]
    summaries = [name for name in chosen if SUMMARY_MARK in cells and known.words(name) >= {"train", "loss"}]
    left_out = {*bounds, *summaries}
    wide = bool(bounds) or all(" - " in name for name in chosen)
    losses = [(name, *(_metric(name) if wide else ("", name))) for name in sorted(chosen, key=cells.__getitem__)]
    return Layout(
        names=tuple(names),
        losses=tuple(Loss(cells[name], run, column) for name, run, column in losses if name not in left_out),
        step=cell_of(step),
        tokens=cell_of(tokens),
        lr=cell_of(known.first_of(known.LEARNING_RATES, names)),
        run=cell_of(options.run_column or known.first_of(known.RUNS, names)),
        split=cell_of(known.first_of(known.SPLITS, names)),
        facts=tuple((fact, cell) for fact, cell in facts.items() if cell is not None),
        bounds=len(bounds),
        summaries=len(summaries),
    )


def _is_wanted(name: str, options: Options) -> bool:
    return name in options.named or _metric(name)[1] in options.named


def _metric(name: str) -> tuple[str, str]:
    """Return run and metric of a column of the W&B web export, "run - metric"; run "" where there is none."""
    run, separator, metric = name.rpartition(" - ")
    return (run, metric) if separator else ("", name)
