"""What happens around a job, without Snakemake: two clones, one folder as remote."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from scaling_collapse.cache.notes import mark_forces
from scaling_collapse.cache.repository import open_repository
from scaling_collapse.identity.resolve import Graph
from scaling_collapse.identity.stage import Stage
from scaling_collapse.paths import StagePaths
from scaling_collapse.pipeline.session import Mode, Session
from tests.unit.cache.support import clone

CORPUS = Stage("cpu-corpus", "Corpus", "corpus", "build", {"scale": "cpu"}, ("text",), ("tokens",))
RUN = Stage("cpu-run", "Train", "train", "train", {"scale": "cpu", "lr": 1}, ("tokens",), ("weights",), ("run.log",))


@dataclass
class Desk:
    """One person's clone, in which a stage is run by writing its files."""

    root: Path
    said: list[str] = field(default_factory=list)

    def session(self, mode: Mode = Mode.ON) -> Session:
        open_repository.cache_clear()
        return Session(self.root, mode, warn=self.said.append, tell=self.said.append)

    def run(self, session: Session, stage: Stage, text: str = "result") -> bool:
        """Do what Snakemake does around a job; return whether it had to run."""
        if session.fetch(stage):
            return False
        for path in stage.outputs:
            (self.root / path).write_text(text)
        session.keep(stage)
        return True


def desk(folder: Path, remote: Path) -> Desk:
    clone(folder, remote)
    (folder / "text").write_text("text")
    return Desk(folder)


@pytest.fixture
def a(tmp_path: Path) -> Desk:
    return desk(tmp_path / "a", tmp_path / "remote")


@pytest.fixture
def b(tmp_path: Path) -> Desk:
    return desk(tmp_path / "b", tmp_path / "remote")


def test_what_one_made_is_not_made_again_by_the_other(a: Desk, b: Desk) -> None:
    session = a.session()
    assert [a.run(session, stage) for stage in (CORPUS, RUN)] == [True, True]
    session.close()
    session = b.session()
    assert [b.run(session, stage) for stage in (CORPUS, RUN)] == [False, False]
    assert (b.root / "weights").read_text() == "result"
    assert "Pushed to the remote: 2 stages" in a.said[-1]


def test_the_same_content_upstream_stops_a_change_there(a: Desk) -> None:
    session = a.session()
    for stage in (CORPUS, RUN):
        a.run(session, stage)
    (a.root / "text").write_text("text with a new comment")
    session = a.session()
    assert a.run(session, CORPUS)
    assert not a.run(session, RUN), "the corpus came out as before"


def test_of_two_results_published_under_one_key_the_first_is_everybodys(a: Desk, b: Desk) -> None:
    first, second = a.session(), b.session()
    assert not first.fetch(CORPUS)
    assert not second.fetch(CORPUS)
    for session, person, text in ((first, a, "mine"), (second, b, "yours")):
        (person.root / "tokens").write_text(text)
        session.keep(CORPUS)
        session.close()
    assert (b.root / "tokens").read_text() == "mine"
    assert b.session().resolve(Graph([CORPUS]))["cpu-corpus"].where == "here"


def test_a_result_is_not_kept_when_its_input_changed_while_it_was_made(a: Desk, b: Desk) -> None:
    session = a.session()
    assert not session.fetch(CORPUS)
    (a.root / "tokens").write_text("half old, half new")
    (a.root / "text").write_text("edited meanwhile")
    session.keep(CORPUS)
    session.close()
    assert any("text changed while it ran" in text for text in a.said)
    assert a.session().resolve(Graph([CORPUS]))["cpu-corpus"].where == "run"
    assert b.run(b.session(), CORPUS)


def test_a_full_disk_loses_no_result(a: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    session = a.session()
    monkeypatch.setattr("scaling_collapse.cache.local.LocalCache.add_object", full)
    assert a.run(session, CORPUS)
    session.close()
    assert [text for text in a.said if "No space left on device" in text]
    assert a.session().resolve(Graph([CORPUS]))["cpu-corpus"].where == "here"


@pytest.mark.parametrize("mode", [Mode.READ, Mode.LOCAL, Mode.OFF])
def test_modes_push_nothing(a: Desk, b: Desk, mode: Mode) -> None:
    session = a.session(mode)
    a.run(session, CORPUS)
    session.close()
    assert b.run(b.session(), CORPUS)
    (a.root / "tokens").unlink()
    assert a.run(a.session(mode), CORPUS) == (mode is Mode.OFF)


def test_only_what_a_target_needs_is_restored(a: Desk, b: Desk) -> None:
    session = a.session()
    for stage in (CORPUS, RUN):
        a.run(session, stage)
    session.close()
    b.session().restore(Graph([CORPUS, RUN]), [RUN])
    assert (b.root / "weights").exists()
    assert not (b.root / "tokens").exists()


def test_dvc_lock_keeps_other_scales_and_forgets_what_left_the_study(a: Desk) -> None:
    session = a.session()
    for stage in (CORPUS, RUN):
        a.run(session, stage)
    session.resolve(Graph([CORPUS, RUN]))
    session.record_stages(complete=True)
    lock = a.root / "dvc.lock"
    theirs = yaml.safe_load(lock.read_text())["stages"]["cpu-run"]
    other, old = ({**theirs, "outs": [{**theirs["outs"][0], "path": path}]} for path in ("elsewhere", "gone"))
    lock.write_text(yaml.safe_dump({"stages": {"paper-run": other, "cpu-old": old, "mine": {"cmd": "by hand"}}}))
    session = a.session()
    session.resolve(Graph([CORPUS]))
    session.record_stages(complete=False)
    assert set(yaml.safe_load(lock.read_text())["stages"]) == {"cpu-corpus", "cpu-run", "paper-run", "cpu-old"}
    session.record_stages(complete=True)
    assert set(yaml.safe_load(lock.read_text())["stages"]) == {"cpu-corpus", "paper-run"}
    assert not (StagePaths(a.root).notes / "cpu-run.json").exists()


def test_notes_that_cannot_be_read_are_as_good_as_none(a: Desk) -> None:
    a.run(a.session(), CORPUS)
    for text in ("", "{", "[]", json.dumps({"cmd": 1})):
        (StagePaths(a.root).notes / "cpu-corpus.json").write_text(text)
        assert a.session().resolve(Graph([CORPUS]))["cpu-corpus"].where == "here", "found in the cache by its content"


def test_what_a_dead_remote_did_not_take_is_marked_and_pushed_by_the_next_run(a: Desk, b: Desk) -> None:
    config = a.root / ".dvc/config"
    good = config.read_text()
    config.write_text(good.replace(str(a.root.parent / "remote"), "ssh://127.0.0.1:9/nowhere"))
    session = a.session()
    assert a.run(session, CORPUS)
    session.close()
    assert any("Not pushed yet: 1 stage" in text for text in a.said)
    config.write_text(good)
    session = a.session()
    assert session.pusher
    session.pusher.push_marked()
    session.close()
    assert not b.run(b.session(), CORPUS)


def test_a_stage_forced_from_another_process_runs_once(a: Desk) -> None:
    session = a.session()
    a.run(session, CORPUS)
    mark_forces(session.paths.forces, ["cpu-corpus", "gone"])
    assert a.run(a.session(), CORPUS)
    assert not a.run(a.session(), CORPUS)
