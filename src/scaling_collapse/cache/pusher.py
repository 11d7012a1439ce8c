"""Pushing in the background of later work, with retries; what could not be pushed is told at the end."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue

from scaling_collapse.cache.connection import is_refusal
from scaling_collapse.cache.notes import mark_push, marked_pushes, unmark_push
from scaling_collapse.cache.store import Store
from scaling_collapse.errors import CacheError, DamagedError

#: Tries of a push, and the pause before each [s].
PAUSES = (0.0, 1.0, 4.0)


@dataclass
class Pushed:
    """How it went: records and bytes that went out; records that the remote's rights refuse; what failed otherwise."""

    records: int = 0
    bytes: int = 0
    refused: int = 0
    failed: dict[str, str] = field(default_factory=dict)


class Pusher:
    """A thread that publishes records one after another. Each stays marked on disk until it is published."""

    def __init__(self, store: Store, marks: Path) -> None:
        self.store, self.marks, self.result = store, marks, Pushed()
        self._queue: Queue[tuple[str, str, bool]] = Queue()
        self._thread: threading.Thread | None = None

    def push(self, key: str, value: str, replace: bool = False) -> None:
        """Publish a record soon."""
        mark_push(self.marks, key, value)
        self._enqueue(key, value, replace)

    def postpone(self, key: str, value: str) -> None:
        """Leave a record to the next run: the remote does not answer in this one."""
        mark_push(self.marks, key, value)
        self.result.failed[key] = "the remote does not answer."

    def push_marked(self) -> None:
        """Publish what an earlier run could not."""
        for key, value in marked_pushes(self.marks):
            if value in self.store.local.names(key):
                self._enqueue(key, value, False)
            else:  # collected since
                unmark_push(self.marks, key)

    def finish(self) -> Pushed:
        """Wait until all is published or given up, and say how it went."""
        self._queue.join()
        if self.result.failed and not self.store.offline:
            self.push_marked()
            self._queue.join()
        return self.result

    def _enqueue(self, key: str, value: str, replace: bool) -> None:
        self._queue.put((key, value, replace))
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, daemon=True, name="push")
            self._thread.start()

    def _work(self) -> None:
        while True:
            key, value, replace = self._queue.get()
            try:
                self._publish(key, value, replace)
            finally:
                self._queue.task_done()

    def _publish(self, key: str, value: str, replace: bool) -> None:
        for pause in PAUSES:
            time.sleep(pause)
            try:
                self.result.bytes += self.store.publish(key, value, replace)
            except DamagedError as error:
                self.result.failed[key] = str(error)
                return
            except (CacheError, OSError) as error:
                if is_refusal(error):
                    self.result.refused += 1
                    unmark_push(self.marks, key)
                    return
                self.result.failed[key] = str(error)
                if self.store.offline:
                    return
                silent = isinstance(error.__cause__, TimeoutError)  # it was waited for long enough
                if isinstance(error, CacheError) and (silent or pause == PAUSES[-1]):
                    self.store.lose_remote(error)
                    return
                continue
            self.result.records += 1
            self.result.failed.pop(key, None)
            unmark_push(self.marks, key)
            return
