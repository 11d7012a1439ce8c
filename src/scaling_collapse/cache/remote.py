"""Objects and records at the lab's remote: a folder, a host by SSH, an S3 bucket, or whatever else DVC knows."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from scaling_collapse.cache.files import READ_ONLY, appearing
from scaling_collapse.cache.records import LARGEST_RECORD, NAME, read_record
from scaling_collapse.cache.repository import PATIENCE, open_repository, remote_name, remote_url
from scaling_collapse.errors import CacheError, DamagedError
from scaling_collapse.identity.hashing import Content, content_of
from scaling_collapse.identity.stage import Record

#: Requests at once: enough to hide the way to a server, few enough for its limit of sessions.
WORKERS = 8
#: Records under one key that are looked at; more than one is rare, a thousand would be an attack.
MANY = 16

T = TypeVar("T")
S = TypeVar("S")


class Remote:
    """One remote. Every method raises CacheError for what the network, the server or its rights refuse."""

    def __init__(self, database: Any, name: str, url: str) -> None:
        self.database, self.fs = database, database.fs
        self.name, self.url = name, url
        self.base = database.path.rsplit("/files/", 1)[0]
        self.rejected: dict[str, str] = {}  # records that are not what their name says, and why

    def object(self, content: Content) -> str:
        """Where an object lies, or would."""
        return str(self.database.oid_to_path(content.md5))

    def record_folder(self, key: str) -> str:
        """Where the records of a key lie."""
        return f"{self.base}/runs/{key[:2]}/{key}"

    def records(self, key: str) -> list[Record]:
        """Return the sound records under a key, in the order in which everybody prefers them."""
        names = sorted(name for path in self._find(self.record_folder(key)) if NAME.fullmatch(name := self._name(path)))
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
                self._call(lambda: self.fs.get_file(source, str(partial)), patience=None)
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

    def _find(self, folder: str) -> Iterator[str]:
        def find() -> list[str]:
            if hasattr(self.fs.fs, "invalidate_cache"):  # what others wrote since must be seen
                self.fs.fs.invalidate_cache()
            try:
                return list(self.fs.find(folder))
            except FileNotFoundError:
                return []

        yield from self._call(find)

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
            self.database.makedirs(parent) if self.fs.protocol == "local" else self.fs.makedirs(parent, exist_ok=True)
            partial = f"{parent}/.{uuid.uuid4().hex[:12]}.part"
            try:
                self.fs.put_file(str(source), partial)
                if self.fs.protocol == "local":
                    Path(partial).chmod(READ_ONLY)
                self.fs.move(partial, target)
            except BaseException:
                with suppress(Exception):
                    self.fs.remove(partial)
                raise

        self._call(put, patience=None)

    @staticmethod
    def _name(path: str) -> str:
        return path.rsplit("/", 1)[-1]

    def _call(self, function: Callable[[], T], patience: float | None = PATIENCE) -> T:
        """Call the library; a file that is not there stays FileNotFoundError, anything else becomes CacheError."""
        try:
            return function() if patience is None else within(patience, function)
        except (FileNotFoundError, CacheError):
            raise
        except Exception as error:  # each library has its own
            raise CacheError(f"remote {self.url}", reason(error)) from error


def open_remote(root: Path, name: str | None = None) -> Remote | None:
    """Return the default remote of a repository, or the one named; None where none is set. Raises CacheError."""
    name = name or remote_name(root)
    if name is None:
        return None
    url = remote_url(root, name)
    try:
        return Remote(open_repository(root).cloud.get_remote_odb(name), name, url)
    except Exception as error:
        raise CacheError(f"remote {url}", reason(error)) from error


def reason(error: BaseException) -> str:
    """Say in one line why a library failed."""
    seen: list[str] = []
    cause: BaseException | None = error
    while cause is not None and len(seen) < 3:
        text = " ".join(str(cause).split()) or type(cause).__name__
        if text not in seen:
            seen.append(text)
        cause = cause.__cause__ or cause.__context__
    return ": ".join(seen)[:400]


def within(seconds: float, function: Callable[[], T]) -> T:
    """Call a function, and give it up (it goes on in the background) after some time. Raises CacheError then."""
    result: list[Mapping[str, Any]] = []

    def call() -> None:
        try:
            result.append({"value": function()})
        except BaseException as error:
            result.append({"error": error})

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(seconds)
    if not result:
        raise CacheError("remote", f"no answer within {seconds:g} s.")
    if "error" in result[0]:
        raise result[0]["error"]
    value: T = result[0]["value"]
    return value
