"""Looking after a cache: what is where, what is damaged, what nobody needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from scaling_collapse.cache.remote import Remote
from scaling_collapse.cache.store import Store
from scaling_collapse.errors import CacheError, DamagedError
from scaling_collapse.identity.hashing import Content
from scaling_collapse.identity.stage import Record, contents_of, value_of

WORKERS = 4


@dataclass(frozen=True)
class Place:
    """Of some stages: how many are whole in one place, how many not, and bytes that are there."""

    whole: int
    partly: int
    bytes: int


def objects_of(records: Iterable[Record]) -> list[Content]:
    """Return the objects of some records, each once, in an order of its own."""
    return sorted({c for record in records for c in contents_of(record).values()}, key=lambda c: c.md5)


def place_of(records: Iterable[Record], has: Callable[[Content], bool]) -> Place:
    """Return how much of some records is where `has` looks for objects."""
    whole, partly, seen = 0, 0, set[Content]()
    for record in records:
        contents = set(contents_of(record).values())
        here = {content for content in contents if has(content)}
        seen |= here
        whole += here == contents
        partly += 0 < len(here) < len(contents)
    return Place(whole, partly, sum(content.size for content in seen))


def verify_local(store: Store) -> tuple[int, list[str]]:
    """Read every object of this machine; drop and name the damaged. Return how many were read, and the damaged."""
    objects = list(store.local.all_objects())
    with ThreadPoolExecutor(WORKERS) as pool:
        bad = [c for c, damaged in zip(objects, pool.map(store.local.damaged, objects), strict=True) if damaged]
    for content in bad:
        store.local.drop_object(content)
    names = [str(store.local.object(content)) for content in bad]
    for key, value in list(store.local.all_records()):
        try:
            store.local.record(key, value)
        except DamagedError as error:
            names.append(str(error))
    return len(objects), names


def verify_remote(remote: Remote) -> tuple[int, list[str]]:
    """Download and check every object that the remote's records name; drop and name the damaged. Raises CacheError."""
    remote.rejected.clear()
    keys = sorted({key for key, _ in remote.all_records()})
    records = [record for found in remote.records_of(keys).values() for record in found]
    wanted = objects_of(records)
    bad: list[str] = []
    with TemporaryDirectory() as folder:

        def check(content: Content) -> None:
            path = Path(folder) / content.md5
            try:
                remote.fetch(content, path)
            except FileNotFoundError:
                bad.append(f"{remote.object(content)}: is missing.")
            except DamagedError as error:
                bad.append(str(error))
                remote.remove(remote.object(content))
            path.unlink(missing_ok=True)

        remote.each(check, wanted)
    for name, why in remote.rejected.items():
        key, value = name.split("/")
        bad.append(why)
        remote.remove(f"{remote.record_folder(key)}/{value}")
    return len(wanted), bad


def unneeded(store: Store, kept: Collection[Record]) -> tuple[list[tuple[str, str]], list[Content]]:
    """Return the records and the objects of this machine that none of the records `kept` uses."""
    names = {value_of(record) for record in kept}
    objects = {c for record in kept for part in ("outs", "deps") for c in contents_of(record, part).values()}
    md5s = {content.md5 for content in objects}
    records = [(key, value) for key, value in store.local.all_records() if value not in names]
    return records, [content for content in store.local.all_objects() if content.md5 not in md5s]


def drop(store: Store, records: Iterable[tuple[str, str]], objects: Iterable[Content]) -> None:
    """Remove records, then the objects that they named."""
    for key, value in records:
        store.local.record_file(key, value).unlink(missing_ok=True)
    for content in objects:
        store.local.drop_object(content)


def push_all(store: Store, tell: Callable[[str], None]) -> tuple[int, list[str]]:
    """Publish every record of this machine that the remote lacks. Return how many, and what failed.

    Raises CacheError where there is no remote that answers.
    """
    remote = store.remote
    if remote is None:
        raise CacheError("remote", "there is none, or it does not answer.", "collapse cache init --remote URL")
    missing = sorted(set(store.local.all_records()) - remote.all_records())
    failed = []
    for number, (key, value) in enumerate(missing, 1):
        try:
            size = store.publish(key, value)
            tell(f"[{number}/{len(missing)}] {size / 1e6:.1f} MB")
        except DamagedError:
            continue  # a record whose objects were collected: nothing that could be pushed
        except CacheError as error:
            failed.append(str(error))
            if len(failed) == 1:
                tell(str(error))
    return len(missing) - len(failed), failed
