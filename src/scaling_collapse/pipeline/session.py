"""One run of the pipeline with its cache: what is restored before it starts, and what happens around each job."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from scaling_collapse.cache import notes
from scaling_collapse.cache.dvc_files import write_dvc_files
from scaling_collapse.cache.pusher import Pusher
from scaling_collapse.cache.repository import is_repository
from scaling_collapse.cache.store import Store
from scaling_collapse.errors import CacheError
from scaling_collapse.identity.hashing import Content
from scaling_collapse.identity.resolve import Graph, Made, State, Where, find_nothing, in_place
from scaling_collapse.identity.stage import Record, Stage, contents_of
from scaling_collapse.paths import StagePaths
from scaling_collapse.pipeline.jobs import Codes


class Mode(StrEnum):
    """How the cache is used: `snakemake --config cache=...`."""

    ON = "on"
    READ = "read"  # restore from everywhere, keep what is made here, push nothing
    LOCAL = "local"  # this machine's cache alone: the remote is not asked
    OFF = "off"  # neither restore nor keep; what lies in its place is still told apart from what is stale


@dataclass
class Session:
    """The cache of one process. `warn` and `tell` print a line."""

    root: Path
    mode: Mode
    warn: Callable[[str], None]
    tell: Callable[[str], None]
    forced: set[str] = field(default_factory=set)  # names of stages that the user wants run whatever is known

    def __post_init__(self) -> None:
        self.paths = StagePaths(self.root)
        self.codes = Codes(self.root)
        self.hashes = notes.read_hashes(self.paths.hashes, self.root)
        self.made = notes.read_made(self.paths.notes)
        self.states: dict[str, State] = {}
        self.store = self._open_store()
        self.pusher = Pusher(self.store, self.paths.pushes) if self.store and self.mode is Mode.ON else None
        self._unkept = 0  # stages that are done, and could not be put into the cache
        self._begun: dict[str, dict[str, Content]] = {}  # content of inputs when a job began

    def _open_store(self) -> Store | None:
        if self.mode is Mode.OFF:
            return None
        if not is_repository(self.root):
            self.warn("No .dvc folder here, so stages are not cached. Fix: git checkout .dvc, or `dvc init --no-scm`")
            return None
        try:
            return Store(self.root, self.warn, use_remote=self.mode is not Mode.LOCAL)
        except CacheError as error:
            self.warn(f"{error} Stages are not cached.")
            return None

    # -- before the run ---------------------------------------------------------------------------------------------
    def resolve(self, graph: Graph) -> dict[str, State]:
        """Find out of every stage whether its outputs are here, in the cache, or must be made."""
        find = self.store.find if self.store else find_nothing
        self.states = graph.resolve(self.hashes, self.made, find, self.forced)
        return self.states

    def restore(self, graph: Graph, targets: Sequence[Stage], run: bool = True) -> dict[str, State]:
        """Restore what `targets` need, as far as the cache has it, and return all states after that.

        With `run=False` nothing is to be run afterwards: only the targets themselves are restored.
        """
        asked = {stage.name for stage in targets}
        while True:
            needed = graph.needed(self.resolve(graph), targets)
            wanted = [state for state in needed if state.restorable and (run or state.stage.name in asked)]
            if not wanted or self.store is None:
                self._note(needed)
                return self.states
            done = self.store.restore(wanted)
            for state in done:
                self._learn(state.stage, state.record)
            self._tell_restored(done)

    def _note(self, states: Collection[State]) -> None:
        """Remember what lies in its place for reasons that no note told, such as `dvc pull`."""
        for state in states:
            known = self.made.get(state.stage.name)
            if state.where is Where.HERE and state.record and (known is None or known.key != state.key):
                self._learn(state.stage, state.record)

    def _tell_restored(self, states: Sequence[State]) -> None:
        if states:
            size = sum(c.size for state in states if state.record for c in contents_of(state.record).values())
            far = sum(state.where is Where.REMOTE for state in states)
            origin = f", {far} of them from the remote" if far else ""
            self.tell(f"Restored from the cache: {count(len(states))}{origin} ({size / 1e6:.1f} MB).")

    def _learn(self, stage: Stage, record: Record | None) -> None:
        """Remember what a stage's files are."""
        assert record is not None
        for path in stage.files:
            self.hashes.forget(path)
        self.made[stage.name] = Made(stage.key(contents_of(record, "deps")), record)
        try:
            notes.write_made(self.paths.notes, stage.name, record)
        except OSError as error:
            self.warn(f"{self.paths.notes}: cannot be written ({error.strerror}).")

    # -- around a job -----------------------------------------------------------------------------------------------
    def fetch(self, stage: Stage) -> bool:
        """Make the outputs of a stage that is about to run without running it, if that can be."""
        self.codes.refresh(stage.inputs, self.hashes)
        try:
            inputs = self._begun[stage.name] = self._contents(stage.inputs)
        except IsADirectoryError:  # of a rule of the user's own: it has no content that a key could hold
            return False
        key = stage.key(inputs)
        if notes.take_force(self.paths.forces, stage.name):  # asked for by the process that submitted this job
            self.forced.add(stage.name)
        if stage.name not in self.forced:
            made = self.made.get(stage.name)
            if made and made.key == key and in_place(stage, made.record, self.hashes):
                return True
            if self.store and self._fetch(stage, key):
                return True
        notes.forget_made(self.paths.notes, stage.name)
        self.made.pop(stage.name, None)
        self._unlink(stage)
        return False

    def _unlink(self, stage: Stage) -> None:
        """Remove links into the cache, which `dvc pull` makes of logs as well: nothing may be written through them."""
        for path in map(self.root.joinpath, stage.files):
            if path.is_symlink() or (path.exists() and path.stat().st_nlink > 1):
                path.unlink()

    def _fetch(self, stage: Stage, key: str) -> bool:
        assert self.store is not None
        while True:
            found = self.store.find({key: stage}).get(key)
            if not found:
                return False
            state = State(stage, found[0].where, key, found[0].record)
            if self.store.restore([state]):
                self._learn(stage, state.record)
                self.tell(f"Restored from the cache: {stage.title}.")
                return True

    def keep(self, stage: Stage) -> None:
        """Keep what a stage has made just now. Whatever fails, its outputs stay where they are."""
        begun = self._begun.pop(stage.name, None)
        if begun is None:
            return
        for path in stage.logs:  # a rule may name a log that it does not always write
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).touch()
        self.codes.refresh(stage.inputs, self.hashes)
        inputs = self._contents(stage.inputs)
        if begun != inputs:
            changed = sorted(path for path in inputs if inputs[path] != begun.get(path))
            self.warn(
                f"{stage.title}: {', '.join(changed)} changed while it ran, so its result is not kept for others."
            )
            return
        for path in stage.files:
            self.hashes.forget(path)
        record = stage.record(inputs | self._contents(stage.files))
        self._learn(stage, record)
        if self.store:
            try:
                self._save(self.store, stage, record)
            except (CacheError, OSError) as error:
                self._unkept += 1
                if self._unkept == 1:  # what is wrong with the first is wrong with all; their number is told at the end
                    self.warn(f"{stage.title}: done, but not in the cache ({error}).")

    def _save(self, store: Store, stage: Stage, record: Record) -> None:
        """Save a record, or take over what somebody else has published meanwhile, so that all go on from the same."""
        key, replace = stage.key(contents_of(record, "deps")), stage.name in self.forced
        if not replace:
            for theirs in store.theirs(key):
                if store.restore([State(stage, Where.REMOTE, key, theirs)]):
                    self._learn(stage, theirs)
                    return
        _, value = store.save(stage, record, replace)
        if self.pusher and store.remote:
            self.pusher.push(key, value, replace)
        elif self.pusher and store.has_remote:
            self.pusher.postpone(key, value)

    def _contents(self, paths: Sequence[str]) -> dict[str, Content]:
        return {path: self.hashes.content(path) for path in paths}

    # -- after the run ----------------------------------------------------------------------------------------------
    def close(self) -> None:
        """Wait for pushes and tell how they went."""
        if self._unkept > 1:
            self.warn(f"Done, but not in the cache: {count(self._unkept)}.")
        if self.pusher:
            result = self.pusher.finish()
            if result.records:
                self.tell(f"Pushed to the remote: {count(result.records)} ({result.bytes / 1e6:.1f} MB).")
            if result.refused:
                self.tell(f"Kept on this machine only: {count(result.refused)}. The remote is read-only for you.")
            if result.failed:
                why = next(iter(result.failed.values()))
                self.warn(
                    f"Not pushed yet: {count(len(result.failed))} ({why}) "
                    "The next run tries again; `collapse cache push` does so at once."
                )

    def remember(self) -> None:
        """Keep what is known of files' content, for the next run. Raises OSError."""
        for path in list(self.hashes.known):
            if not (self.root / path).exists():
                self.hashes.forget(path)
        notes.write_hashes(self.paths.hashes, self.hashes)

    def record_stages(self, complete: bool) -> None:
        """Bring dvc.yaml and dvc.lock up to date; `complete`: the whole scale was looked at. Raises OSError."""
        self.made = notes.read_made(self.paths.notes)  # jobs on other machines have written theirs
        scales = {str(state.stage.settings.get("scale")) for state in self.states.values()}

        def has_left(name: str) -> bool:
            return complete and name.partition("-")[0] in scales and name not in self.states

        for name in [name for name in self.made if has_left(name)]:
            notes.forget_made(self.paths.notes, name)
            del self.made[name]
        records = {name: state.record for name, state in self.states.items() if state.record}
        records |= {name: made.record for name, made in self.made.items()}
        write_dvc_files(self.root, records, has_left)


def count(number: int) -> str:
    """1 stage, 2 stages."""
    return f"{number} stage{'' if number == 1 else 's'}"
