"""The two places where records and objects are kept, as one: look up, restore, save."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from pathlib import Path

from scaling_collapse.cache.local import LocalCache
from scaling_collapse.cache.remote import Remote, open_remote
from scaling_collapse.cache.repository import open_repository, remote_name
from scaling_collapse.errors import CacheError, DamagedError
from scaling_collapse.identity.hashing import Content
from scaling_collapse.identity.resolve import Found, State, Where
from scaling_collapse.identity.stage import Record, Stage, contents_of, value_of
from scaling_collapse.paths import StagePaths

#: How long a remote that failed is left alone [s].
PAUSE = 600.0


class Store:
    """The cache of a clone. Whatever fails in it is told once, and the work goes on without."""

    def __init__(self, root: Path, warn: Callable[[str], None], use_remote: bool = True) -> None:
        self.root, self.warn, self.use_remote = root, warn, use_remote
        self.local = LocalCache(open_repository(root))
        self._asked_again = 0.0  # when a remote that failed is asked again, by time.monotonic
        self.damaged: set[Content] = set()  # objects that the remote does not deliver intact
        self.unusable: set[str] = set()  # records whose objects cannot be had
        self._told: set[str] = set()

    @property
    def offline(self) -> bool:
        """Whether the remote failed a short time ago: it is not waited for at every stage."""
        return time.monotonic() < self._asked_again

    @cached_property
    def _remote(self) -> Remote | None:
        try:
            return open_remote(self.root) if self.use_remote else None
        except CacheError as error:
            self.tell(str(error))
            return None

    @property
    def remote(self) -> Remote | None:
        """The lab's remote; None where there is none, or where it does not answer."""
        return None if self.offline else self._remote

    @property
    def has_remote(self) -> bool:
        """Whether a remote is set, be it reachable or not."""
        return self.use_remote and remote_name(self.root) is not None

    def tell(self, text: str) -> None:
        """Warn, once for each text."""
        if text not in self._told:
            self._told.add(text)
            self.warn(text)

    def lose_remote(self, error: CacheError) -> None:
        """Go on without the remote for a while; a run may take days."""
        if not self.offline:
            self._asked_again = time.monotonic() + PAUSE
            self.__dict__.pop("_remote", None)  # with its connections
            self.tell(f"{str(error).rstrip('.')}. Going on with the cache of this clone alone.")

    # -- look-up ----------------------------------------------------------------------------------------------------
    def find(self, keys: Mapping[str, Stage]) -> dict[str, list[Found]]:
        """Return the usable records under many keys: those of this machine, and for the others those of the remote."""
        found: dict[str, list[Found]] = {key: usable for key in keys if (usable := self._find_local(key))}
        absent = [key for key in keys if key not in found]
        if absent and (remote := self.remote):
            try:
                for key, records in remote.records_of(absent).items():
                    if far := [Found(r, Where.REMOTE) for r in records if value_of(r) not in self.unusable]:
                        found[key] = far
                for text in remote.rejected.values():
                    self.tell(f"{text} It is not used.")
                if remote.unreadable:
                    self.tell(
                        f"remote {remote.url}: has folders that cannot be read with your rights, and what they hold is "
                        "made anew. Fix: their owners run `chmod -R g+rwX` on it."
                    )
            except CacheError as error:
                self.lose_remote(error)
        return found

    def _find_local(self, key: str) -> list[Found]:
        found: list[Found] = []
        for name in self.local.names(key):
            try:
                record = self.local.record(key, name)
            except CacheError as error:
                self.tell(f"{error} It is not used.")
                continue
            if name not in self.unusable and not self.local.missing(record):
                found.append(Found(record, Where.LOCAL))
        return found

    # -- restore ----------------------------------------------------------------------------------------------------
    def restore(self, states: Iterable[State]) -> list[State]:
        """Put the files of restorable stages in their places; return the states for which that worked."""
        wanted = list(states)
        lost = self._fetch({c for state in wanted for c in self.local.missing(_record(state))})
        return [state for state in wanted if self._check_out(state, lost)]

    def _fetch(self, contents: Collection[Content]) -> set[Content]:
        """Download objects into the cache, several at once; return those that could not be had."""
        remote = self.remote
        if not contents or remote is None:
            return set(contents)

        def fetch(content: Content) -> Content | None:
            if self.offline:
                return content
            target = self.local.object(content)
            try:
                self.local.objects.makedirs(str(target.parent))
                remote.fetch(content, target)
                return None
            except (DamagedError, FileNotFoundError) as error:
                self.damaged.add(content)
                self.tell(f"{error}" if isinstance(error, DamagedError) else f"{remote.object(content)}: is missing.")
            except CacheError as error:
                self.lose_remote(error)
            except OSError as error:
                self.tell(f"{self.local.folder}: cannot be written ({error.strerror}).")
            return content

        return {content for content in remote.each(fetch, list(contents)) if content is not None}

    def _check_out(self, state: State, lost: Collection[Content]) -> bool:
        record = _record(state)
        contents = contents_of(record)
        try:
            if not any(content in lost for content in contents.values()):
                self.local.check_out(self.root, contents, state.stage.outputs)
                self._keep_record(record)
                return True
        except DamagedError as error:
            self.tell(f"{error} It was dropped.")
            if not self._fetch(self.local.missing(record)):
                return self._check_out(state, ())
        except OSError as error:
            self.tell(f"{state.stage.name}: cannot be restored ({error}).")
        self.unusable.add(value_of(record))
        return False

    def _keep_record(self, record: Record) -> None:
        """Keep a record that came from the remote, now that its objects are here; without it nothing is lost."""
        try:
            self.local.add_record(record)
        except OSError as error:
            self.tell(f"{self.local.runs}: cannot be written ({error.strerror}).")

    def have(self, contents: Collection[Content]) -> bool:
        """Whether these objects are on this machine, or could be downloaded now."""
        return not self._fetch([content for content in contents if not self.local.has(content)])

    # -- save -------------------------------------------------------------------------------------------------------
    def theirs(self, key: str) -> list[Record]:
        """Return what others have published under a key meanwhile."""
        if (remote := self.remote) is None:
            return []
        try:
            return remote.records(key)
        except CacheError as error:
            self.lose_remote(error)
            return []

    def save(self, stage: Stage, record: Record, replace: bool = False) -> tuple[str, str]:
        """Keep a record and the files it describes: first the objects, then the record that names them.

        `replace` drops other records under its key. Returns key and value. Raises DamagedError, OSError.
        """
        contents = contents_of(record)
        for path in stage.files:
            self.local.add_object(self.root / path, contents[path])
        for path, content in contents_of(record, "deps").items():
            if content in self.code_of(record):
                self.local.add_object(self.root / path, content)
        key, value = self.local.add_record(record)
        if replace:
            for name in self.local.names(key):
                if name != value:
                    self.local.record_file(key, name).unlink(missing_ok=True)
        if self.local.links[0] in ("symlink", "hardlink"):
            self.local.check_out(self.root, {path: contents[path] for path in stage.outputs}, stage.outputs)
        return key, value

    def code_of(self, record: Record) -> list[Content]:
        """Return the fingerprints of code among a record's inputs."""
        folder = StagePaths().code_folder.as_posix()
        return [content for path, content in contents_of(record, "deps").items() if path.startswith(f"{folder}/")]

    def publish(self, key: str, value: str, replace: bool = False) -> int:
        """Copy a record of this machine to the remote, objects first, and return how many bytes were sent.

        Raises CacheError for a remote that refuses, DamagedError for objects of ours that are damaged or gone.
        """
        remote = self.remote
        if remote is None:
            raise CacheError("remote", "is not reachable.")
        record = self.local.record(key, value)
        contents = set(contents_of(record).values())
        contents |= {c for c in self.code_of(record) if self.local.has(c)}  # for whoever asks why a key differs
        if missing := self.local.missing(record):
            raise DamagedError(str(self.local.object(missing[0])), "is missing.")
        sent = list(contents - (remote.has(contents) - self.damaged))
        remote.each(lambda content: remote.send(self.local.object(content), content), sent)
        self.damaged.difference_update(sent)
        remote.send_record(self.local.record_file(key, value), key, value)
        if replace:
            for other in remote.records(key):
                if (name := value_of(other)) != value:
                    remote.remove(f"{remote.record_folder(key)}/{name}")
        return sum(content.size for content in sent)


def _record(state: State) -> Record:
    assert state.record is not None
    return state.record
