"""Files that appear whole, or not at all."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def appearing(target: Path) -> Iterator[Path]:
    """Give a name to write to, beside `target`; move it there when the block ends well, else remove it."""
    partial = target.with_name(f".{uuid.uuid4().hex[:12]}.part")
    try:
        yield partial
        os.replace(partial, target)
    finally:
        with suppress(OSError):
            partial.unlink()
