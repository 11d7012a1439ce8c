"""One process a run: the lock of its checkpoint folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from scaling_collapse.errors import RunError
from scaling_collapse.file_lock import LockedError, NoLocksError, holding
from scaling_collapse.train.files import writing

LOCK_FILE = "lock"


@contextmanager
def sole_owner(folder: Path, run_id: str) -> Iterator[None]:
    """Hold the lock of a run's checkpoint folder. Raises RunError at once if another process holds it."""
    path = folder / LOCK_FILE
    with ExitStack() as held:
        try:
            with writing(path):
                held.enter_context(holding(path))
        except LockedError as error:
            raise RunError(run_id, f"{error} is training this run now.", "wait for it, or end it first.") from error
        except NoLocksError as error:
            problem = f"the folder {folder} cannot be locked ({error})."
            raise RunError(run_id, problem, "keep it on a file system with locks (flock).") from error
        yield
