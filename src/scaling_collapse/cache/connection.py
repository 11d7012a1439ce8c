"""Calls to a remote: how long they may take, a new connection in place of a dead one, and failures in one line."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from scaling_collapse.errors import CacheError

#: Longest wait for the answer of a remote, without the time that a transfer takes [s].
PATIENCE = 30.0
#: Slowest transfer that is waited for to its end [bytes/s].
SLOWEST = 100_000.0
#: How to mend what libraries say.
MENDS = {
    "Host key is not trusted": "run `ssh` to that host once, and accept its key if it is the right one",
    "Permission denied for user": "run `ssh-add`, or give --option keyfile=..., --option user=...",
    "Passphrase must be specified": "run `ssh-add` on that key, and leave out keyfile",
    "Connect call failed": "check host and port: --option port=..., --option endpointurl=...",
    "Unable to locate credentials": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or --option profile=...",
}

T = TypeVar("T")


class Connection:
    """DVC's database of objects at a remote, opened anew where it worked once and its connection has died since.

    A training takes hours, and what stands between two hosts forgets connections that are idle for minutes.
    """

    def __init__(self, open_database: Callable[[], Any], url: str) -> None:
        self.open_database, self.url = open_database, url
        self.database = open_database()
        self._worked = False
        self._lock = threading.Lock()

    def call(self, function: Callable[[], T], size: int = 0) -> T:
        """Call a function that moves `size` bytes. Raises FileNotFoundError, and CacheError for anything else."""
        used = self.database
        try:
            return self._call(function, size)
        except CacheError as error:
            if is_refusal(error) or not self._renewed(used):
                raise
        return self._call(function, size)

    def _renewed(self, used: Any) -> bool:
        """Whether there is another connection than the one used: another thread's, or one that is opened now."""
        with self._lock:
            if self.database is used and self._worked:
                self._worked = False
                self.database = self.open_database()
            return self.database is not used

    def _call(self, function: Callable[[], T], size: int) -> T:
        try:
            value = within(PATIENCE + size / SLOWEST, function)
        except (FileNotFoundError, CacheError):
            raise
        except Exception as error:  # each library has its own
            text = reason(error)
            fix = next((fix for words, fix in MENDS.items() if words in text), "")
            raise CacheError(f"remote {self.url}", text, fix) from error
        self._worked = True
        return value


def reason(error: BaseException) -> str:
    """Say in one line why a library failed."""
    seen: list[str] = []
    cause: BaseException | None = error
    while cause is not None and len(seen) < 3:
        text = " ".join(str(cause).split()) or type(cause).__name__
        if not any(text in earlier for earlier in seen):
            seen.append(text)
        cause = cause.__cause__ or cause.__context__
    return ": ".join(seen)[:400]


def is_refusal(error: BaseException) -> bool:
    """Whether a failure is a matter of rights, which no retry mends."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, PermissionError) or "AccessDenied" in str(cause) or "Permission denied" in str(cause):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def within(seconds: float, function: Callable[[], T]) -> T:
    """Call a function, and give it up (it goes on in the background) after some time. Raises TimeoutError then."""
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
        raise TimeoutError(f"no answer within {seconds:.0f} s")
    if "error" in result[0]:
        raise result[0]["error"]
    value: T = result[0]["value"]
    return value
