"""Which column is the training loss, which the validation loss; what is kept of the others."""

from __future__ import annotations

from collections.abc import Mapping

from scaling_collapse.errors import LogError
from scaling_collapse.logs import names
from scaling_collapse.logs.options import Options

TRAIN, VALIDATION = "train", "validation"

#: A column with less than this part of the losses of the fullest one is taken only if there is no other.
SPARSE = 0.05


def base_of(column: str) -> str:
    """Return the column's own name, without the split of its records."""
    return column.partition(names.SPLIT_MARK)[0]


def split_of(column: str) -> str:
    """Return the split that the column's records name; "" where they name none."""
    return column.partition(names.SPLIT_MARK)[2]


def choose(counts: Mapping[str, int], options: Options) -> dict[str, str]:
    """Return {column: split} of the columns that are kept, given the number of losses in each, in the log's order.

    The plainest name counts ("train/loss" before "train/aux_loss"), then the order in the log. Where records name
    their split, it is kept. For a column of the options that is not there nothing else is taken.
    """
    chosen = _named_splits(counts, options)
    rest = [column for column in counts if names.SPLIT_MARK not in column]
    for split, option in ((TRAIN, options.loss), (VALIDATION, options.validation)):
        if option is not None:
            chosen |= dict.fromkeys((c for c in rest if _is_named(c, option)), split)
            continue
        taken = [name for name in options.named for c in rest if _is_named(c, name)]
        free = [c for c in rest if names.is_validation(c) == (split == VALIDATION) and c not in taken]
        if free:
            chosen[_best(free, counts)] = split
    if options.all_losses:
        chosen |= {column: column for column in rest if column not in chosen}
    return chosen


def check_named(counts: Mapping[str, int], options: Options, where: str) -> None:
    """Raise LogError if a column that the options name has no losses in log `where`."""
    for option, name in (("--loss", options.loss), ("--validation", options.validation)):
        if name is not None and not any(_is_named(base_of(column), name) for column in counts):
            known = ", ".join(dict.fromkeys(base_of(column) for column in list(counts)[:12]))
            raise LogError(f"{option} {name}", f"no losses under that name in {where}.", f"use one of: {known}")


def _named_splits(counts: Mapping[str, int], options: Options) -> dict[str, str]:
    """Return {column: split} of the plainest column whose records name their split."""
    bases = {base_of(column): counts[column] for column in counts if names.SPLIT_MARK in column}
    if not bases:
        return {}
    named = [base for base in bases if any(_is_named(base, name) for name in options.named)]
    base = named[0] if named else _best(list(bases), bases)
    return {column: split_of(column) for column in counts if base_of(column) == base and split_of(column)}


def _is_named(column: str, name: str) -> bool:
    """Whether `name` is the column, or the whole heading "run - column" of a wide table."""
    return column in (name, name.rpartition(" - ")[2])


def _best(columns: list[str], counts: Mapping[str, int]) -> str:
    fullest = max(counts[column] for column in columns)

    def rank(column: str) -> tuple[bool, int]:
        return counts[column] < SPARSE * fullest, names.plainness(column)

    return min(columns, key=rank)
