"""Objects and records on this machine: `.dvc/cache`, or the directory that a lab shares."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from scaling_collapse.cache.files import READ_ONLY, place
from scaling_collapse.cache.records import NAME, read_record, write_record
from scaling_collapse.errors import CacheError, DamagedError
from scaling_collapse.identity.hashing import Content, content_of
from scaling_collapse.identity.stage import Record, contents_of, key_of, value_of
from scaling_collapse.whole_file import appearing


class LocalCache:
    """`objects` is DVC's database of objects, `runs` the folder of its run-cache."""

    def __init__(self, repository: Any) -> None:
        self.objects = repository.cache.local
        self.folder = Path(self.objects.path)
        self.runs = Path(repository.stage_cache.cache_dir)
        self.links: Sequence[str] = tuple(self.objects.cache_types)

    def object(self, content: Content) -> Path:
        """Where an object lies, or would."""
        return Path(self.objects.oid_to_path(content.md5))

    def has(self, content: Content) -> bool:
        """Whether an object of that size is here; its hash is looked at when it is used."""
        with suppress(OSError):
            return self.object(content).stat().st_size == content.size
        return False

    def missing(self, record: Record) -> list[Content]:
        """Objects of a record that are not here."""
        return [content for content in set(contents_of(record).values()) if not self.has(content)]

    def names(self, key: str) -> list[str]:
        """Names of the records under a key, in the order in which everybody prefers them."""
        try:
            return sorted(name for name in os.listdir(self.record_folder(key)) if NAME.fullmatch(name))
        except OSError:
            return []

    def record_folder(self, key: str) -> Path:
        """Where the records of a key lie."""
        return self.runs / key[:2] / key

    def record_file(self, key: str, value: str) -> Path:
        """Where a record lies, or would."""
        return self.record_folder(key) / value

    def record(self, key: str, value: str) -> Record:
        """Read a record. Raises DamagedError for a damaged or hostile one, after it was dropped."""
        path = self.record_file(key, value)
        try:
            return read_record(path.read_bytes(), key, value)
        except DamagedError:
            self.drop_record(key, value)
            raise
        except OSError as error:
            raise CacheError(str(path), f"cannot be read ({error.strerror}).") from error

    def add_object(self, source: Path, content: Content) -> None:
        """Put a file into the cache. Raises DamagedError if it changed since it was hashed, OSError."""
        if self.has(content):
            return
        target = self.object(content)
        self.objects.makedirs(str(target.parent))
        with appearing(target) as partial:
            place(source, partial, content)
            partial.chmod(READ_ONLY)

    def add_record(self, record: Record) -> tuple[str, str]:
        """Write a record, whose objects are here, and return its key and value. Raises OSError."""
        key, value = key_of(record), value_of(record)
        target = self.record_file(key, value)
        if target.exists():
            return key, value
        self.objects.makedirs(str(target.parent))
        with appearing(target) as partial:
            partial.write_bytes(write_record(record))
            partial.chmod(READ_ONLY)
        return key, value

    def drop_record(self, key: str, value: str) -> None:
        """Remove a record that is damaged, or replaced."""
        with suppress(OSError):
            self.record_file(key, value).unlink()

    def drop_object(self, content: Content) -> None:
        """Remove a damaged object."""
        with suppress(OSError):
            self.object(content).unlink()

    def check_out(self, root: Path, contents: Mapping[str, Content], linked: Iterable[str]) -> None:
        """Put files in their places below `root`, all or none; those in `linked` may be links into the cache.

        Raises DamagedError for a damaged object, which is dropped, and OSError.
        """
        may_link = set(linked)
        with ExitStack() as placed:
            for path, content in contents.items():
                target = root / path
                target.parent.mkdir(parents=True, exist_ok=True)
                partial = placed.enter_context(appearing(target))
                links = self.links if path in may_link else ("reflink", "copy")
                try:
                    place(self.object(content), partial, content, links)
                except DamagedError:
                    self.drop_object(content)
                    raise
                if not partial.is_symlink() and partial.stat().st_nlink == 1:
                    partial.chmod(self.objects._file_mode)
                    os.utime(partial)

    def all_objects(self) -> Iterator[Content]:
        """Every object, with the size that it has."""
        for folder in sorted(self.folder.glob("[0-9a-f][0-9a-f]")):
            for path in sorted(folder.iterdir()):
                if len(path.name) == 30 and not path.name.startswith("."):
                    yield Content(folder.name + path.name, path.stat().st_size)

    def all_records(self) -> Iterator[tuple[str, str]]:
        """Key and value of every record."""
        for folder in sorted(self.runs.glob("[0-9a-f][0-9a-f]/*")):
            yield from ((folder.name, value) for value in self.names(folder.name))

    def damaged(self, content: Content) -> bool:
        """Whether an object does not hold what its name says. Reads it whole."""
        return content_of(self.object(content)).md5 != content.md5
