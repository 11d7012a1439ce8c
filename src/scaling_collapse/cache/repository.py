"""The DVC repository around the working tree, opened once and quietly."""

from __future__ import annotations

import logging
from functools import lru_cache
from pathlib import Path
from typing import Any

from scaling_collapse.errors import CacheError


def is_repository(root: Path) -> bool:
    """Whether stages can be cached here."""
    return (root / ".dvc").is_dir()


@lru_cache(maxsize=8)
def open_repository(root: Path) -> Any:
    """Return DVC's Repo. Git is not its business here. Raises CacheError for a configuration that DVC cannot read."""
    from dvc.config import ConfigError
    from dvc.exceptions import DvcException
    from dvc.repo import Repo

    for name in ("dvc", "dvc_objects", "dvc_data"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # we say in one line what they say in many
    try:
        here = str((root / ".dvc" / "tmp").resolve())  # else DVC leaves a folder for each clone in the system's
        core = {"no_scm": True, "analytics": False, "check_update": False, "site_cache_dir": here}
        return Repo(str(root), config={"core": core})
    except (ConfigError, DvcException, OSError) as error:
        raise CacheError(str(root / ".dvc" / "config"), f"{error}", "mend it, or `git checkout .dvc/config`") from error


def remote_name(root: Path) -> str | None:
    """Return the name of the default remote; None where none is set."""
    name: str | None = open_repository(root).config["core"].get("remote")
    return name


def remote_url(root: Path, name: str) -> str:
    """Return the URL of a remote as it is configured."""
    return str(open_repository(root).config["remote"].get(name, {}).get("url", name))
