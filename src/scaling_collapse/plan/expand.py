"""From a scale to its runs: groups resolved, equal runs merged, impossible ones refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from scaling_collapse.config.group import Group
from scaling_collapse.config.points import Point, points
from scaling_collapse.config.scale import Scale
from scaling_collapse.config.yaml_file import place
from scaling_collapse.errors import ConfigError
from scaling_collapse.plan.capacity import check_capacity, known_tokens
from scaling_collapse.plan.resolve import resolve
from scaling_collapse.plan.run import Run


def expand(scale: Scale, root: Path = Path()) -> list[Run]:
    """All runs of a scale, each once, with the groups that use it; in the order of the groups.

    `root` is the repository, whose built corpus, if any, says how many tokens there are. Raises ConfigError for two
    runs with one id, more tokens than the corpus, and whatever `resolve` refuses.
    """
    corpus_tokens = known_tokens(scale, root)
    runs: dict[str, Run] = {}
    # Groups that fill up to a number come last, whatever their place, because they count all others.
    order = sorted(enumerate(scale.groups), key=lambda entry: entry[1].fill_to is not None)
    for index, group in order:
        candidates = [(point, _resolve(scale, index, group, point)) for point in points(group)]
        if group.fill_to is not None:
            candidates = _fill(scale, index, group, candidates, runs.values())
        for point, run in candidates:
            where = partial(place, scale.file, _keys(index, point))
            check_capacity(run, corpus_tokens, where)
            runs[run.run_id] = _merge(runs.get(run.run_id), run, where)
    return list(runs.values())


def _keys(index: int, point: Point) -> tuple[str | int, ...]:
    return ("groups", index, *point.keys)


def _resolve(scale: Scale, index: int, group: Group, point: Point) -> Run:
    """The run of a point; a fault is reported at the point's place in the file."""
    try:
        return resolve(scale, point.case, group.name)
    except ConfigError as error:
        where = f"{place(scale.file, _keys(index, point))} ({point.case.size})"
        raise ConfigError(where, f"{error.where}: {error.problem}", error.fix) from error
    except (OverflowError, ValidationError) as error:
        where = f"{place(scale.file, _keys(index, point))} ({point.case.size})"
        raise ConfigError(
            where, "its numbers are beyond what a computer holds", "lower tpp, tokens or batch"
        ) from error


def _spec(run: Run) -> Run:
    """The run without the groups that use it."""
    return run.model_copy(update={"groups": ()})


def _merge(known: Run | None, run: Run, where: Callable[[], str]) -> Run:
    """The run with the groups of both. Raises ConfigError where one id stands for two runs."""
    if known is None:
        return run
    if _spec(known) != _spec(run):
        differing = [name for name, value in _spec(run) if value != getattr(_spec(known), name)]
        raise ConfigError(
            where(),
            f"two runs with one id, {run.run_id}: groups {known.groups[0]} and {run.groups[0]} differ slightly "
            f"in {', '.join(differing)}",
            "write the values alike in both groups, or further apart",
        )
    return known.model_copy(update={"groups": tuple(dict.fromkeys(known.groups + run.groups))})


def _fill(
    scale: Scale, index: int, group: Group, candidates: list[tuple[Point, Run]], planned: Iterable[Run]
) -> list[tuple[Point, Run]]:
    """As many candidates that are not planned yet as are missing, spread evenly over the grid.

    Counted are the planned runs of the same size and TPP, with the family's own architecture and parameterisation.
    """
    where = partial(place, scale.file, ("groups", index, "fill_to"))
    wanted = group.fill_to or 0
    family, size = scale.find_size(group.sizes[0])
    ids = {
        run.run_id
        for run in planned
        if run.tpp == group.tpp[0]
        and run.model == family.model(size)
        and run.parameterisation == family.parameterisation
    }
    missing = wanted - len(ids)
    if missing < 0:
        raise ConfigError(where(), f"{wanted} runs wanted, but other groups have {len(ids)}", "raise fill_to")
    fresh = list({run.run_id: (point, run) for point, run in candidates if run.run_id not in ids}.values())
    if len(fresh) < missing:
        problem = f"{missing} more runs wanted, but the grid has {len(fresh)} new ones"
        raise ConfigError(where(), problem, "add values to the grid")
    return [fresh[i * len(fresh) // missing] for i in range(missing)]
