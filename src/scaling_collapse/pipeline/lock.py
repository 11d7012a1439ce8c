"""One pipeline a clone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from scaling_collapse.errors import CacheError
from scaling_collapse.file_lock import LockedError, NoLocksError, holding


@contextmanager
def sole_pipeline(path: Path) -> Iterator[bool]:
    """Hold the lock of a clone; yield whether that worked: not where the disk has no locks.

    Raises CacheError if another process holds it.
    """
    with ExitStack() as held:
        alone = True
        try:
            held.enter_context(holding(path))
        except LockedError as error:
            problem = f"{error} is running the pipeline in this clone."
            raise CacheError("snakemake", problem, "wait for it, or end it first.") from error
        except NoLocksError:
            alone = False
        yield alone
