"""Which stages need not run, before anything runs: a stage's key follows from its settings and its inputs' content, and
the content of inputs that are not here follows from the records of the stages that make them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from scaling_collapse.identity.hashing import Content, Hashes
from scaling_collapse.identity.stage import Record, Stage, contents_of


class Where(StrEnum):
    """Where the outputs of a stage are."""

    HERE = "here"  # in their place, made with this meaning
    LOCAL = "local"  # in the cache on this machine
    REMOTE = "remote"  # at the lab's remote
    RUN = "run"  # nowhere: the stage must run
    UNKNOWN = "unknown"  # depends on what another stage makes when it runs


@dataclass(frozen=True)
class Made:
    """What the files of a stage are that lie in their place: the key they were made under, and their record."""

    key: str
    record: Record


@dataclass(frozen=True)
class Found:
    """A record of the cache."""

    record: Record
    where: Where


@dataclass(frozen=True)
class State:
    """What is known of a stage: `key` and `record` as far as they are; the stages whose outputs it waits for."""

    stage: Stage
    where: Where
    key: str | None = None
    record: Record | None = None
    waits_for: tuple[str, ...] = ()

    @property
    def restorable(self) -> bool:
        """Whether the outputs can be had without running the stage."""
        return self.where in (Where.LOCAL, Where.REMOTE)

    @property
    def must_run(self) -> bool:
        """Whether the stage is to be run, as far as can be known."""
        return self.where in (Where.RUN, Where.UNKNOWN)


Find = Callable[[Mapping[str, Stage]], Mapping[str, Sequence[Found]]]


def find_nothing(_keys: Mapping[str, Stage]) -> Mapping[str, Sequence[Found]]:
    """Look up nowhere: there is no cache."""
    return {}


@dataclass
class Graph:
    """Stages in an order in which they could run, and who makes what."""

    stages: Sequence[Stage]
    makers: dict[str, Stage] = field(init=False)

    def __post_init__(self) -> None:
        self.makers = {path: stage for stage in self.stages for path in stage.outputs}

    def levels(self) -> list[list[Stage]]:
        """Stages by the longest way to them: those of a level do not depend on each other."""
        depth: dict[str, int] = {}
        levels: list[list[Stage]] = []
        for stage in self.stages:
            before = (depth[maker.name] for path in stage.inputs if (maker := self.makers.get(path)))
            depth[stage.name] = level = 1 + max(before, default=-1)
            levels.extend([] for _ in range(level + 1 - len(levels)))
            levels[level].append(stage)
        return levels

    def resolve(
        self,
        hashes: Hashes,
        made: Mapping[str, Made],
        find: Find = find_nothing,
        forced: Collection[str] = (),
    ) -> dict[str, State]:
        """Return the state of every stage, by name.

        `made` says what lies in its place, `find` looks keys up in the cache (many at once), and stages named in
        `forced` run whatever is known of them.
        """
        states: dict[str, State] = {}
        known: dict[str, Content] = {}
        for level in self.levels():
            keys: dict[str, Stage] = {}
            for stage in level:
                waits = self._learn_inputs(stage, states, known, hashes)
                if waits:
                    states[stage.name] = State(stage, Where.UNKNOWN, waits_for=waits)
                    continue
                key = stage.key(known)
                mine = made.get(stage.name)
                if stage.name in forced:
                    states[stage.name] = State(stage, Where.RUN, key)
                elif mine and mine.key == key and in_place(stage, mine.record, hashes):
                    states[stage.name] = State(stage, Where.HERE, key, mine.record)
                else:
                    keys[key] = stage
            found = find(keys) if keys else {}
            for key, stage in keys.items():
                states[stage.name] = _choose(stage, key, found.get(key, ()), hashes)
            for stage in level:
                if record := states[stage.name].record:
                    known |= contents_of(record)
        return states

    def _learn_inputs(
        self, stage: Stage, states: Mapping[str, State], known: dict[str, Content], hashes: Hashes
    ) -> tuple[str, ...]:
        """Add the content of a stage's inputs to `known`; return the stages (or files) that must be made first."""
        waits: dict[str, None] = {}
        for path in stage.inputs:
            maker = self.makers.get(path)
            if maker is not None:
                state = states[maker.name]
                if state.record is None:
                    waits |= dict.fromkeys(state.waits_for or (maker.name,))
            elif path not in known:
                try:
                    known[path] = hashes.content(path)
                except OSError:
                    waits[path] = None
        return tuple(waits)

    def behind(self, targets: Iterable[Stage]) -> list[Stage]:
        """Return `targets` and every stage that they are made from, in order."""
        todo, seen = list(targets), set[str]()
        while todo:
            stage = todo.pop()
            if stage.name not in seen:
                seen.add(stage.name)
                todo.extend(maker for path in stage.inputs if (maker := self.makers.get(path)))
        return [stage for stage in self.stages if stage.name in seen]

    def needed(self, states: Mapping[str, State], targets: Iterable[Stage]) -> list[State]:
        """Return the states that matter for `targets`: theirs, and of what must be there to run what must run."""
        todo, seen = list(targets), dict[str, State]()
        while todo:
            stage = todo.pop()
            if stage.name in seen:
                continue
            state = seen[stage.name] = states[stage.name]
            if state.must_run:
                todo.extend(maker for path in stage.inputs if (maker := self.makers.get(path)))
        return [seen[stage.name] for stage in self.stages if stage.name in seen]


def in_place(stage: Stage, record: Record, hashes: Hashes) -> bool:
    """Whether a stage's outputs lie in their place with the content that the record says; logs may have gone."""
    contents = contents_of(record)
    try:
        return all(hashes.content(path) == contents[path] for path in stage.outputs)
    except (OSError, KeyError):
        return False


def _choose(stage: Stage, key: str, found: Sequence[Found], hashes: Hashes) -> State:
    """Prefer the record of what lies here (a stage that is not deterministic may have several), else the first."""
    if any((hashes.root / path).exists() for path in stage.outputs):
        for candidate in found:
            if in_place(stage, candidate.record, hashes):
                return State(stage, Where.HERE, key, candidate.record)
    if found:
        return State(stage, found[0].where, key, found[0].record)
    return State(stage, Where.RUN, key)
