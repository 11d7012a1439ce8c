"""Look-up, restore, save and publish between two clones and a folder as remote."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scaling_collapse.cache.pusher import PAUSES, Pusher
from scaling_collapse.cache.store import Store
from scaling_collapse.cache.upkeep import (
    drop,
    objects_of,
    place_of,
    push_all,
    unneeded,
    verify_local,
    verify_remote,
)
from scaling_collapse.errors import CacheError, DamagedError
from scaling_collapse.identity.hashing import content_of
from scaling_collapse.identity.resolve import Found, State, Where
from scaling_collapse.identity.stage import Record, contents_of, key_of, value_of
from tests.unit.cache.support import STAGE, Clone, clone

ROOT_USER = os.geteuid() == 0


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    return tmp_path / "remote"


@pytest.fixture
def a(tmp_path: Path, remote: Path) -> Clone:
    return clone(tmp_path / "a", remote)


@pytest.fixture
def b(tmp_path: Path, remote: Path) -> Clone:
    return clone(tmp_path / "b", remote)


def published(a: Clone) -> Record:
    record, store = a.make(), a.store
    store.publish(*store.save(STAGE, record))
    return record


def found(store: Store, record: Record) -> list[Found]:
    return store.find({key_of(record): STAGE}).get(key_of(record), [])


def restore(store: Store, record: Record, where: Where = Where.REMOTE) -> bool:
    return bool(store.restore([State(STAGE, where, key_of(record), record)]))


def object_of(folder: Path, record: Record, path: str = "out/a.bin") -> Path:
    md5 = contents_of(record)[path].md5
    return folder / "files" / "md5" / md5[:2] / md5[2:]


def overwrite(path: Path, data: bytes) -> None:
    path.chmod(0o644)
    path.write_bytes(data)


def test_what_one_clone_made_the_other_restores(a: Clone, b: Clone) -> None:
    record = published(a)
    store = b.store
    assert found(store, record) == [Found(record, Where.REMOTE)]
    assert restore(store, record)
    assert b.texts() == a.texts()
    assert found(b.store, record) == [Found(record, Where.LOCAL)], "and has it in its own cache from then on"
    assert b.warnings == []


def test_nothing_is_left_beside_the_files(a: Clone, b: Clone, remote: Path) -> None:
    restore(b.store, published(a))
    everything = [*a.root.rglob("*"), *b.root.rglob("*"), *remote.rglob("*")]
    assert not [path for path in everything if path.name.endswith(".part")]


def test_another_meaning_is_not_found(a: Clone, b: Clone) -> None:
    record = published(a)
    assert b.store.find({"0" * 64: STAGE}) == {}
    assert found(b.store, record)


@pytest.mark.parametrize("data", [b"weightz", b"weightsweights", b""], ids=["a bit", "longer", "empty"])
def test_a_damaged_object_at_the_remote_is_dropped_named_and_replaced(
    a: Clone, b: Clone, remote: Path, data: bytes
) -> None:
    record = published(a)
    bad = object_of(remote, record)
    overwrite(bad, data)
    store = b.store
    assert not restore(store, record)
    assert b.texts() == [None] * 3
    assert any(str(bad) in text and "damaged" in text for text in b.warnings)
    assert found(store, record) == [], "not offered again in this run"
    again = b.make()  # the stage runs
    store.publish(*store.save(STAGE, again))
    assert content_of(bad) == contents_of(record)["out/a.bin"], "the rerun has replaced it"


def test_a_missing_object_at_the_remote_is_named(a: Clone, b: Clone, remote: Path) -> None:
    record = published(a)
    object_of(remote, record).unlink()
    assert not restore(b.store, record)
    assert any("missing" in text for text in b.warnings)


def test_a_damaged_object_here_is_dropped_and_fetched_again(a: Clone) -> None:
    record = published(a)
    mine = object_of(a.root / ".dvc/cache", record)
    overwrite(mine, b"weightz")
    a.clean()
    assert restore(a.store, record, Where.LOCAL)
    assert a.texts()[0] == "weights"
    assert content_of(mine) == contents_of(record)["out/a.bin"]
    assert any(str(mine) in text for text in a.warnings)


def test_a_damaged_object_without_a_remote_means_running_again(tmp_path: Path) -> None:
    alone = clone(tmp_path / "alone")
    record = alone.make()
    alone.store.save(STAGE, record)
    mine = object_of(alone.root / ".dvc/cache", record)
    overwrite(mine, b"weightz")
    alone.clean()
    store = alone.store
    assert not restore(store, record, Where.LOCAL)
    assert not mine.exists()
    assert found(store, record) == []


def test_hostile_records_at_the_remote_are_named_and_not_used(a: Clone, b: Clone, remote: Path) -> None:
    record = published(a)
    folder = remote / "runs" / key_of(record)[:2] / key_of(record)
    (good,) = folder.iterdir()
    overwrite(good, good.read_bytes().replace(b"out/a.bin", b"/tmp/a.bin"))
    (folder / ("f" * 64)).write_bytes(b"!!python/object/apply:os.system ['touch /tmp/owned']")
    (folder / "not-a-record").write_bytes(b"x")
    assert found(b.store, record) == []
    assert len(b.warnings) == 2
    assert all("not used" in text for text in b.warnings)


def test_a_record_that_another_stage_declares_is_not_used_for_this_one(a: Clone, b: Clone, remote: Path) -> None:
    """A sound record, moved under the key of another stage, is refused: it would write other files."""
    record = published(a)
    other = "0" * 64
    target = remote / "runs" / other[:2] / other
    target.mkdir(parents=True)
    (target / value_of(record)).write_bytes(
        (remote / "runs" / key_of(record)[:2] / key_of(record) / value_of(record)).read_bytes()
    )
    assert b.store.find({other: STAGE}) == {}


def test_an_object_that_is_a_link_elsewhere_is_verified_like_any_other(a: Clone, b: Clone, remote: Path) -> None:
    record = published(a)
    secret = remote.parent / "secret"
    secret.write_text("secret!")
    bad = object_of(remote, record)
    bad.unlink()
    bad.symlink_to(secret)
    assert not restore(b.store, record)
    assert b.texts() == [None] * 3


def test_a_place_that_cannot_be_written_leaves_all_files_as_they_were(a: Clone, b: Clone) -> None:
    record = published(a)
    b.make("mine")
    before = b.texts()
    (b.root / "out" / "b.json").unlink()
    (b.root / "out" / "b.json").mkdir()
    assert not restore(b.store, record)
    assert (b.root / "out" / "a.bin").read_text() == before[0]
    assert (b.root / "a.log").read_text() == before[2]


def test_a_remote_that_is_gone_is_told_once_and_the_work_goes_on(a: Clone, tmp_path: Path) -> None:
    record = a.make()
    config = a.root / ".dvc/config"
    config.write_text(config.read_text().replace(str(tmp_path / "remote"), "ssh://127.0.0.1:9/nowhere"))
    store = a.store
    for _ in range(3):
        assert found(store, record) == []
    store.save(STAGE, record)
    assert found(store, record) == [Found(record, Where.LOCAL)]
    assert len(a.warnings) == 1
    assert "127.0.0.1" in a.warnings[0]
    with pytest.raises(CacheError):
        store.publish(key_of(record), value_of(record))


def test_a_record_is_published_after_its_objects(a: Clone, remote: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record, store = a.make(), a.store
    key, value = store.save(STAGE, record)
    object_of(a.root / ".dvc/cache", record).unlink()
    with pytest.raises(DamagedError):
        store.publish(key, value)
    assert not list((remote).rglob("runs/*/*/*"))


def test_a_forced_result_replaces_what_was_cached(a: Clone, b: Clone) -> None:
    old = published(a)
    new, store = a.make("better"), a.store
    store.publish(*store.save(STAGE, new, replace=True), replace=True)
    assert found(a.store, old) == [Found(new, Where.LOCAL)]
    assert found(b.store, old) == [Found(new, Where.REMOTE)]


def test_links_into_a_shared_cache_are_made_for_outputs_and_never_for_logs(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    link = clone(tmp_path / "c", more=f'[cache]\n    dir = {shared}\n    shared = group\n    type = "symlink,copy"\n')
    record = link.make()
    link.store.save(STAGE, record)
    assert (link.root / "out/a.bin").is_symlink()
    link.clean()
    assert restore(link.store, record, Where.LOCAL)
    assert (link.root / "out/a.bin").is_symlink()
    assert not (link.root / "a.log").is_symlink()
    assert not list((link.root / ".dvc").glob("cache/files"))
    (link.root / "a.log").write_text("appended by a later run")
    assert verify_local(link.store)[1] == []


# -- pushing
def push(a: Clone, store: Store) -> Pusher:
    pusher = Pusher(store, a.root / ".work/push")
    pusher.push(*store.save(STAGE, a.make()))
    pusher.finish()
    return pusher


def test_a_push_in_the_background_arrives(a: Clone, b: Clone) -> None:
    pusher = push(a, a.store)
    assert (pusher.result.records, pusher.result.failed) == (1, {})
    assert found(b.store, a.make())
    assert list((a.root / ".work/push").iterdir()) == []


def test_a_failed_push_is_tried_again_now_and_by_the_next_run(
    a: Clone, b: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []
    monkeypatch.setattr("scaling_collapse.cache.pusher.time.sleep", lambda seconds: None)
    monkeypatch.setattr(
        Store, "publish", lambda *arguments: tries.append(1) or (_ for _ in ()).throw(CacheError("r", "x"))
    )
    pusher = push(a, a.store)
    assert len(tries) == len(PAUSES)
    assert len(pusher.result.failed) == 1
    monkeypatch.undo()
    later = Pusher(a.store, a.root / ".work/push")
    later.push_marked()
    assert later.finish().records == 1
    assert found(b.store, a.make())


def test_a_push_that_rights_refuse_is_not_tried_again(a: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> int:
        raise CacheError("remote", "no") from PermissionError("Permission denied")

    monkeypatch.setattr(Store, "publish", refuse)
    pusher = push(a, a.store)
    assert (pusher.result.refused, pusher.result.failed) == (1, {})
    assert list((a.root / ".work/push").iterdir()) == []


def test_all_that_the_remote_lacks_can_be_pushed_at_once(a: Clone, b: Clone) -> None:
    record, store = a.make(), a.store
    store.save(STAGE, record)
    assert push_all(store, lambda text: None) == (1, [])
    assert push_all(store, lambda text: None) == (0, [])
    assert found(b.store, record)


# -- upkeep
def test_verify_names_and_drops_what_is_damaged(a: Clone, remote: Path) -> None:
    record = published(a)
    store = a.store
    assert verify_local(store) == (3, [])
    assert store.remote
    assert verify_remote(store.remote) == (3, [])
    for folder in (a.root / ".dvc/cache", remote):
        overwrite(object_of(folder, record), b"weightz")
        (key_folder,) = (folder / "runs").glob("*/*")
        (key_folder / ("e" * 64)).write_text("nonsense")
    number, bad = verify_local(store)
    assert (number, len(bad)) == (3, 2)
    number, bad = verify_remote(store.remote)
    assert (number, len(bad)) == (3, 2)
    assert verify_local(store) == (2, [])
    _, bad = verify_remote(store.remote)
    assert len(bad) == 1, "the object is missing now"
    assert "missing" in bad[0]


def test_places_count_whole_and_partly(a: Clone, remote: Path) -> None:
    record = published(a)
    store = a.store
    size = sum(content.size for content in contents_of(record).values())
    assert store.remote
    there = store.remote.has(objects_of([record]))
    assert place_of([record], there.__contains__).whole == place_of([record], store.local.has).whole == 1
    assert place_of([record], store.local.has).bytes == size
    object_of(a.root / ".dvc/cache", record).unlink()
    place = place_of([record], store.local.has)
    assert (place.whole, place.partly) == (0, 1)


def test_what_no_stage_uses_is_collected(a: Clone) -> None:
    store = a.store
    old, new = a.make("old"), None
    store.save(STAGE, old)
    new = a.make("new")
    store.save(STAGE, new)
    records, objects = unneeded(store, [new])
    assert [value for _, value in records] == [value_of(old)]
    assert {content.md5 for content in objects} == {content.md5 for content in contents_of(old).values()}
    drop(store, records, objects)
    assert found(store, new) == [Found(new, Where.LOCAL)]
    assert unneeded(store, [new]) == ([], [])


def test_a_remote_that_failed_is_asked_again_after_a_while(a: Clone, b: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    record, store = published(a), b.store
    store.lose_remote(CacheError("remote", "was away"))
    assert store.remote is None
    assert found(store, record) == []
    monkeypatch.setattr("scaling_collapse.cache.store.time.monotonic", lambda: 1e12)
    assert found(store, record) == [Found(record, Where.REMOTE)]
