"""From a run group to its cases: sizes x TPP x grid x cases x search x seeds, each later setting overriding."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

from scaling_collapse.config.group import Case, Group, Search, Settings

# Setting one of a pair makes an inherited value of the other void: each follows from the other.
_RIVALS = {"tau": "weight_decay", "weight_decay": "tau", "tpp": "tokens", "tokens": "tpp"}


@dataclass(frozen=True)
class Point:
    """A case of a group, and the key inside the group to which an error about it points."""

    case: Case
    keys: tuple[str | int, ...] = ()


def points(group: Group) -> list[Point]:
    """All cases of a group, in order. With `fill_to`, these are the candidates. Raises pydantic's ValidationError."""
    return list(islice(_points(group), group.take))


def _points(group: Group) -> Iterator[Point]:
    shared = _given(group, set(Settings.model_fields))
    axes = {name: values for name, values in group.grid if values}
    cells = [dict(zip(axes, cell, strict=True)) for cell in product(*axes.values())]
    draws = list(_draws(group.search)) if group.search else [{}]
    cases: list[tuple[int | None, Case]] = [*enumerate(group.cases)] or [(None, Case())]
    for size, tpp, cell, (index, case), draw, seed in product(
        group.sizes or [None], group.tpp or [None], cells, cases, draws, group.seeds
    ):
        settings: dict[str, Any] = {"seed": seed}
        for layer in ({"size": size}, shared, {"tpp": tpp}, cell, _given(case, set(Case.model_fields)), draw):
            settings = _overlay(settings, layer)
        yield Point(Case(**settings), () if index is None else ("cases", index))


def _given(block: Settings, names: set[str]) -> dict[str, Any]:
    return {name: getattr(block, name) for name in Case.model_fields if name in names & block.model_fields_set}


def _overlay(settings: dict[str, Any], layer: dict[str, Any]) -> dict[str, Any]:
    """`layer` on top of `settings`; None sets nothing."""
    given = {name: value for name, value in layer.items() if value is not None}
    void = {_RIVALS[name] for name in given if name in _RIVALS}
    return {name: value for name, value in settings.items() if name not in void} | given


def _draws(search: Search) -> Iterator[dict[str, Any]]:
    """Log-uniform draws, rounded to three digits so that run ids state them exactly."""
    generator = random.Random(search.seed)
    for _ in range(search.count):
        yield {
            name: float(f"{math.exp(generator.uniform(math.log(bounds.low), math.log(bounds.high))):.3g}")
            for name, bounds in search
            if name not in ("count", "seed") and bounds is not None
        }
