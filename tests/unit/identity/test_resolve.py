"""Which stages need not run, on small graphs whose answers can be worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scaling_collapse.identity.hashing import Content, Hashes, content_of
from scaling_collapse.identity.resolve import Found, Graph, Made, State, Where
from scaling_collapse.identity.stage import Stage, contents_of, key_of

CORPUS = Stage("corpus", "Corpus", "corpus", "build", {"tokens": 10}, ("text",), ("tokens",), ("corpus.log",))
RUN_A = Stage("run-a", "Train a", "train", "train a", {"lr": 1.0}, ("tokens",), ("a",))
RUN_B = Stage("run-b", "Train b", "train", "train b", {"lr": 2.0}, ("tokens",), ("b",))
CURVES = Stage("curves", "Curves", "curves", "collect", {}, ("a", "b"), ("curves",))
FIGURE = Stage("figure", "Figure", "figure", "draw", {}, ("curves",), ("figure",))
STAGES = (CORPUS, RUN_A, RUN_B, CURVES, FIGURE)


class World:
    """A folder and a cache in which the stages can be run for pretence: an output is a hash of all that decides it."""

    def __init__(self, root: Path) -> None:
        self.root, self.hashes = root, Hashes(root)
        self.cache: dict[str, list[Found]] = {}
        self.made: dict[str, Made] = {}
        self.asked: list[set[str]] = []
        (root / "text").write_text("some text")

    def run(self, stages: Sequence[Stage], where: Where = Where.LOCAL) -> None:
        for stage in stages:
            key = stage.key({path: self.hashes.content(path) for path in stage.inputs})
            for path in stage.files:
                (self.root / path).write_text(f"{path} of {key}")
                self.hashes.forget(path)
            record = stage.record({path: self.hashes.content(path) for path in (*stage.inputs, *stage.files)})
            self.cache[key] = [Found(record, where)]
            self.made[stage.name] = Made(key, record)

    def find(self, keys: Mapping[str, Stage]) -> Mapping[str, Sequence[Found]]:
        self.asked.append({stage.name for stage in keys.values()})
        return {key: self.cache[key] for key in keys if key in self.cache}

    def clean(self, *keep: str) -> None:
        for stage in STAGES:
            for path in stage.files:
                if path not in keep:
                    (self.root / path).unlink(missing_ok=True)

    def states(self, stages: Sequence[Stage] = STAGES, **options: set[str]) -> dict[str, State]:
        return Graph(stages).resolve(self.hashes, self.made, self.find, **options)

    def where(self, stages: Sequence[Stage] = STAGES, **options: set[str]) -> list[str]:
        return [str(state.where) for state in self.states(stages, **options).values()]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_at_first_one_stage_must_run_and_the_others_wait_for_it(world: World) -> None:
    assert world.where() == ["run", *["unknown"] * 4]
    assert {state.waits_for for state in world.states().values() if state.where == "unknown"} == {("corpus",)}


def test_what_was_made_is_here(world: World) -> None:
    world.run(STAGES)
    world.asked.clear()
    assert world.where() == ["here"] * 5
    assert world.asked == [], "the cache need not be asked"


def test_a_deleted_log_is_missed_by_nobody(world: World) -> None:
    world.run(STAGES)
    (world.root / "corpus.log").unlink()
    assert world.where() == ["here"] * 5


def test_a_fresh_clone_knows_everything_from_the_text_and_the_records_alone(world: World) -> None:
    world.run(STAGES, Where.REMOTE)
    world.clean()
    world.made.clear()
    assert world.where() == ["remote"] * 5


def test_only_what_the_figure_needs_is_needed(world: World) -> None:
    world.run(STAGES, Where.REMOTE)
    world.clean()
    graph, states = Graph(STAGES), world.states()
    assert [state.stage.name for state in graph.needed(states, [FIGURE])] == ["figure"]
    assert [stage.name for stage in graph.behind([FIGURE])] == [stage.name for stage in STAGES]


def test_a_changed_setting_runs_its_stage_and_what_depends_on_it_waits(world: World) -> None:
    world.run(STAGES)
    other = Stage("run-b", "Train b", "train", "train b", {"lr": 3.0}, ("tokens",), ("b",))
    stages = (CORPUS, RUN_A, other, CURVES, FIGURE)
    assert world.where(stages) == ["here", "here", "run", "unknown", "unknown"]
    needed = Graph(stages).needed(world.states(stages), [FIGURE])
    assert [state.stage.name for state in needed] == [stage.name for stage in stages]


def test_a_figure_without_its_curves_is_not_believed_when_a_run_changes(world: World) -> None:
    """The trap of `dvc pull`: the figure lies there, nothing between it and the changed setting does."""
    world.run(STAGES)
    world.clean("figure")
    other = Stage("run-a", "Train a", "train", "train a", {"lr": 9.0}, ("tokens",), ("a",))
    states = world.states((CORPUS, other, RUN_B, CURVES, FIGURE))
    assert states["figure"].where == "unknown"
    assert states["run-a"].where == "run"


def test_files_without_a_note_are_believed_by_their_content_alone(world: World) -> None:
    world.run(STAGES)
    world.made.clear()
    assert world.where() == ["here"] * 5
    (world.root / "a").write_text("something else")
    world.hashes.forget("a")
    assert world.where() == ["here", "local", "here", "here", "here"]


def test_an_output_edited_by_hand_is_restored(world: World) -> None:
    world.run(STAGES)
    (world.root / "figure").write_text("retouched")
    assert world.where() == ["here"] * 4 + ["local"]


def test_a_forced_stage_runs_whatever_is_known(world: World) -> None:
    world.run(STAGES)
    assert world.where(forced={"run-a"}) == ["here", "run", "here", "unknown", "unknown"]


def test_a_missing_source_is_named(world: World) -> None:
    (world.root / "text").unlink()
    assert world.states()["corpus"].waits_for == ("text",)


def test_of_two_records_the_one_that_lies_here_is_kept(world: World) -> None:
    world.run(STAGES)
    key = world.made["run-a"].key
    mine = world.cache[key][0]
    other = RUN_A.record(contents_of(mine.record, "deps") | {"a": Content("0" * 32, 1)})
    assert key_of(other) == key
    world.cache[key] = [Found(other, Where.LOCAL), mine]
    world.made.clear()
    assert world.where()[1] == "here"
    world.clean()
    assert world.states()["run-a"].record == other


def test_the_cache_is_asked_once_for_all_stages_of_a_level(world: World) -> None:
    world.run(STAGES, Where.REMOTE)
    world.clean()
    world.made.clear()
    world.asked.clear()
    world.states()
    assert world.asked == [{"corpus"}, {"run-a", "run-b"}, {"curves"}, {"figure"}]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    edges=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12),
    changed=st.integers(0, 5),
)
def test_exactly_what_depends_on_a_change_is_not_known(
    tmp_path_factory: pytest.TempPathFactory, edges: list[tuple[int, int]], changed: int
) -> None:
    root = tmp_path_factory.mktemp("graph")
    parents = {n: sorted({a for a, b in edges if b == n and a < n}) for n in range(6)}

    def stage(n: int, setting: int) -> Stage:
        inputs = ("text", *(f"out{m}" for m in parents[n]))
        return Stage(f"s{n}", "", "r", f"make {n}", {"setting": setting}, inputs, (f"out{n}",))

    world = World(root)
    world.run([stage(n, 0) for n in range(6)])
    states = world.states([stage(n, int(n == changed)) for n in range(6)])
    downstream = {changed}
    for n in range(6):
        if downstream & set(parents[n]):
            downstream.add(n)
    for n in range(6):
        expected = "run" if n == changed else "unknown" if n in downstream else "here"
        assert states[f"s{n}"].where == expected


def test_content_is_md5_and_size(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"hello")
    assert content_of(tmp_path / "f") == Content("5d41402abc4b2a76b9719d911017c592", 5)  # RFC 1321's function
