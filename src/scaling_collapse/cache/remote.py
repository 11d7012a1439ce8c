"""Objects and records at the lab's remote: a folder, a host by SSH, an S3 bucket, or whatever else DVC knows."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from shutil import copyfile
from typing import Any, TypeVar

from scaling_collapse.cache import sftp
from scaling_collapse.cache.connection import Connection, is_refusal, reason
from scaling_collapse.cache.files import FULL, READ_ONLY
from scaling_collapse.cache.records import LARGEST_RECORD, NAME, read_record
from scaling_collapse.cache.repository import open_repository, remote_name, remote_url
from scaling_collapse.errors import CacheError, DamagedError
from scaling_collapse.identity.hashing import Content, content_of
from scaling_collapse.identity.stage import Record
from scaling_collapse.whole_file import appearing

#: Requests at once: enough to hide the way to a server, few enough for its limit of sessions.
WORKERS = 8
#: Records under one key that are looked at; more than one is rare, a thousand would be an attack.
MANY = 16

T = TypeVar("T")
S = TypeVar("S")


class Remote:
    """One remote. Every method raises CacheError for what the network, the server or its rights refuse."""

    def __init__(self, open_database: Callable[[], Any], name: str, url: str) -> None:
        self.connection = Connection(open_database, url)
        self.name, self.url = name, url
        self.base = self.database.path.rsplit("/files/", 1)[0]
        self.rejected: dict[str, str] = {}  # records that are not what their name says, and why
        self._folders = {self.base}  # known to exist
        self.unreadable = False  # whether there are records that our rights do not let us read

    @property
    def database(self) -> Any:
        """DVC's database of objects."""
        return self.connection.database

    @property
    def fs(self) -> Any:
        """DVC's file system."""
        return self.database.fs

    def object(self, content: Content) -> str:
        """Where an object lies, or would."""
        return str(self.database.oid_to_path(content.md5))

    def record_folder(self, key: str) -> str:
        """Where the records of a key lie."""
        return f"{self.base}/runs/{key[:2]}/{key}"

    def records(self, key: str) -> list[Record]:
        """Return the sound records under a key, in the order in which everybody prefers them."""
        try:
            paths = self._find(self.record_folder(key))
        except CacheError as error:
            if self.fs.protocol == "s3" or not is_refusal(error):
                raise
            self.unreadable = True
            return []
        names = sorted(name for path in paths if NAME.fullmatch(name := self._name(path)))
        found = []
        for name in names[:MANY]:
            try:
                found.append(read_record(self._read(f"{self.record_folder(key)}/{name}"), key, name))
            except DamagedError as error:
                self.rejected[f"{key}/{name}"] = str(error)
        return found

    def records_of(self, keys: Sequence[str]) -> dict[str, list[Record]]:
        """Return the records under many keys, several requests at once."""
        return dict(zip(keys, self.each(self.records, keys), strict=True))

    def all_records(self) -> set[tuple[str, str]]:
        """Key and name of every record, by one listing."""
        parts = (path.rsplit("/", 2) for path in self._find(f"{self.base}/runs"))
        return {(key, value) for *_, key, value in parts if NAME.fullmatch(key) and NAME.fullmatch(value)}

    def has(self, contents: Iterable[Content]) -> set[Content]:
        """Return which of these objects are there, with the right size."""
        wanted = list(contents)
        return {content for content, there in zip(wanted, self.each(self._has, wanted), strict=True) if there}

    def fetch(self, content: Content, target: Path) -> None:
        """Download an object and verify it. Raises DamagedError for one that does not hold what its name says."""
        source = self.object(content)
        size = self._call(lambda: self.fs.info(source)["size"])
        if size == content.size:
            with appearing(target) as partial:
                try:
                    self._call(lambda: self.fs.get_file(source, str(partial)), size)
                except CacheError as error:
                    if isinstance(error.__cause__, OSError) and error.__cause__.errno in FULL:
                        raise error.__cause__ from error  # it is our disk that is full, not the remote that fails
                    raise
                if content_of(partial) == content:
                    partial.chmod(READ_ONLY)
                    return
                partial.unlink()
                raise DamagedError(source, "is damaged: it does not hold what its name says.")
        raise DamagedError(source, f"is damaged: it has {size} bytes, and should have {content.size}.")

    def send(self, source: Path, content: Content) -> None:
        """Upload an object; nobody ever sees half of it."""
        self._put(source, self.object(content))

    def send_record(self, data: Path, key: str, value: str) -> None:
        """Upload a record, after its objects."""
        self._put(data, f"{self.record_folder(key)}/{value}")

    def remove(self, path: str) -> None:
        """Remove a file."""
        self._call(lambda: self.fs.remove(path))

    def exists(self, path: str) -> bool:
        """Whether there is a file or folder of that name."""
        return bool(self._call(lambda: self.fs.exists(path)))

    def each(self, function: Callable[[S], T], items: Sequence[S]) -> list[T]:
        """Call a function for each item, several at once. Raises the first error."""
        if len(items) < 2:
            return [function(item) for item in items]
        with ThreadPoolExecutor(min(WORKERS, len(items))) as pool:
            return list(pool.map(function, items))

    def _has(self, content: Content) -> bool:
        try:
            return bool(self._call(lambda: self.fs.info(self.object(content)))["size"] == content.size)
        except FileNotFoundError:
            return False

    def _find(self, folder: str) -> list[str]:
        """Files below a folder. Raises CacheError for one that may not be read: it must not pass for an empty one."""

        def find() -> list[str]:
            if self.fs.protocol == "local":
                if not os.path.isdir(self.base):  # a disk that is not mounted must not pass for an empty one
                    raise self._absent()
                return [os.path.join(at, name) for at, _, names in os.walk(folder, onerror=_unread) for name in names]
            if hasattr(self.fs.fs, "invalidate_cache"):  # what others wrote since must be seen
                self.fs.fs.invalidate_cache()
            try:
                return list(self.fs.find(folder))
            except FileNotFoundError:
                return []

        return self._call(find)

    def _read(self, path: str) -> bytes:
        def read() -> bytes:
            with self.fs.open(path, "rb") as file:
                return bytes(file.read(LARGEST_RECORD + 1))

        return self._call(read)

    def _put(self, source: Path, target: str) -> None:
        from dvc_objects.fs.base import ObjectFileSystem

        def put() -> None:
            if isinstance(self.fs, ObjectFileSystem):  # an object store shows nothing before all is there
                self.fs.put_file(str(source), target)
                return
            parent = target.rsplit("/", 1)[0]
            self._make_folder(parent)
            if self.fs.protocol == "ssh":
                sftp.upload(self.fs, source, f"{parent}/.{uuid.uuid4().hex[:12]}.part", target, READ_ONLY)
            else:
                with appearing(Path(target)) as partial:
                    copyfile(source, partial)
                    partial.chmod(READ_ONLY)

        try:
            self._call(put, source.stat().st_size)
        except CacheError:
            self._folders = {self.base}  # another may have gone
            raise
        except FileNotFoundError as error:
            raise self._absent() from error

    def _absent(self) -> CacheError:
        return CacheError(
            f"remote {self.url}", "its folder or bucket is not there.", "mount or make it, or mend the URL"
        )

    def _make_folder(self, folder: str) -> None:
        """Make a folder with the rights of the one that holds the cache, whatever our umask: others write there too."""
        new = []
        while folder not in self._folders and not self.fs.exists(folder):
            new.append(folder)
            folder = folder.rsplit("/", 1)[0]
        if new:
            info = self.fs.info(self.base)
            mode = info["mode" if self.fs.protocol == "local" else "permissions"] & 0o7777
        for path in reversed(new):
            if self.fs.protocol == "ssh":
                sftp.make_folder(self.fs, path, mode)
            else:
                with suppress(FileExistsError):  # somebody else was faster
                    Path(path).mkdir()
                    Path(path).chmod(mode)
        self._folders |= {folder, *new}

    @staticmethod
    def _name(path: str) -> str:
        return path.rsplit("/", 1)[-1]

    def _call(self, function: Callable[[], T], size: int = 0) -> T:
        return self.connection.call(function, size)


def _unread(error: OSError) -> None:
    """Raise what os.walk would pass over, unless the folder is not there."""
    if not isinstance(error, FileNotFoundError):
        raise error


def _open_database(root: Path, name: str) -> Any:
    """Return DVC's database of a remote. Hosts are taken as `ssh` takes them: DVC alone trusts any, and may ask."""
    database = open_repository(root).cloud.get_remote_odb(name)
    if database.fs.protocol == "ssh":
        from asyncssh import SSHClient

        database.fs.fs_args.update(known_hosts=(), agent_forwarding=False, client_factory=SSHClient)
    return database


def open_remote(root: Path, name: str | None = None) -> Remote | None:
    """Return the default remote of a repository, or the one named; None where none is set. Raises CacheError."""
    name = name or remote_name(root)
    if name is None:
        return None
    url = remote_url(root, name)
    try:
        return Remote(lambda: _open_database(root, name), name, url)
    except Exception as error:
        raise CacheError(f"remote {url}", reason(error)) from error
