"""Setting a cache up: `.dvc/config`, and the proof that what is written there can be read back."""

from __future__ import annotations

import os
import re
import tempfile
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from scaling_collapse.cache.pusher import is_refusal
from scaling_collapse.cache.remote import Remote, open_remote, reason
from scaling_collapse.cache.repository import is_repository, open_repository
from scaling_collapse.errors import CacheError
from scaling_collapse.identity.hashing import content_of

NAME = "lab"
#: What a URL may begin with, and the package that DVC needs for it.
SCHEMES = {"": None, "ssh": "dvc-ssh", "s3": "dvc-s3"}
PROBE_BYTES = 65_536
OPTION = re.compile(r"[a-z_]+=.*")


def set_up(
    root: Path,
    url: str | None,
    shared: Path | None,
    private: bool,
    options: dict[str, str],
    tell: Callable[[str], None],
) -> None:
    """Write the remote and the shared cache directory into `.dvc/config`, after both were tried out.

    `private` writes `.dvc/config.local`, which Git leaves out. Raises CacheError, naming what is wrong, for whatever
    can fail; the configuration is then as it was.
    """
    if not is_repository(root):
        raise CacheError(str(root / ".dvc"), "is not here, so this is no DVC repository.", "git checkout .dvc")
    if url is not None:
        _check_url(url)
    level = "local" if private else "repo"
    file = root / ".dvc" / ("config.local" if private else "config")
    before = file.read_bytes() if file.exists() else None
    try:
        _write(root, level, url, shared, options)
        if shared is not None:
            try_directory(shared)
            tell(f"shared cache {shared}: written, read back and verified; files are links into it")
        if url is not None:
            tell(f"remote {url}: {try_remote(root)}")
    except BaseException as error:
        _put_back(file, before)
        open_repository.cache_clear()
        if isinstance(error, CacheError | KeyboardInterrupt):
            raise
        raise CacheError(url or str(shared), reason(error)) from error


def _check_url(url: str) -> None:
    scheme = urlsplit(url).scheme
    if scheme not in SCHEMES:
        known = ", ".join(f"{name}://" for name in SCHEMES if name)
        raise CacheError(
            url, f"the scheme {scheme}:// is not one of {known} or a folder.", "see `dvc remote add --help` for others"
        )
    if scheme == "" and not Path(url).expanduser().is_absolute():
        raise CacheError(url, "is a relative path, which means another folder in each clone.", "give it from / on")
    if scheme == "ssh" and not (urlsplit(url).hostname and urlsplit(url).path.strip("/")):
        raise CacheError(url, "names no host or no folder.", "write ssh://user@host/path/of/the/cache")
    if scheme == "s3" and not urlsplit(url).netloc:
        raise CacheError(url, "names no bucket.", "write s3://bucket/path")


def _write(root: Path, level: str, url: str | None, shared: Path | None, options: dict[str, str]) -> None:
    from dvc.config import ConfigError

    repository = open_repository(root)
    try:
        with repository.config.edit(level) as edited:
            if url is not None:
                edited.setdefault("core", {})["remote"] = NAME
                edited.setdefault("remote", {})[NAME] = {
                    "url": str(Path(url).expanduser()) if "://" not in url else url
                }
                edited["remote"][NAME].update(options)
            if shared is not None:
                edited["cache"] = {"dir": str(shared), "shared": "group", "type": "symlink,copy"}
    except ConfigError as error:
        raise CacheError(
            ".dvc/config", f"{error}", "see `dvc remote modify --help` for the options of a remote"
        ) from error
    open_repository.cache_clear()


def _put_back(file: Path, before: bytes | None) -> None:
    if before is None:
        file.unlink(missing_ok=True)
    else:
        file.write_bytes(before)


def try_directory(folder: Path) -> None:
    """Write, read back and remove a file in a directory that several people share. Raises CacheError."""
    if not folder.is_dir():
        raise CacheError(str(folder), "is no directory.", f"mkdir {folder}; chgrp LAB {folder}; chmod 2775 {folder}")
    probe = folder / f".probe-{uuid.uuid4().hex}"
    data = os.urandom(PROBE_BYTES)
    try:
        probe.write_bytes(data)
        same = probe.read_bytes() == data
    except OSError as error:
        raise CacheError(
            str(folder),
            f"cannot be written ({error.strerror}).",
            "ask for write rights, or use it as --remote to read only",
        ) from error
    finally:
        with suppress(OSError):
            probe.unlink()
    if not same:
        raise CacheError(str(folder), "does not give back what was written to it.", "check the disk")


def try_remote(root: Path) -> str:
    """Write, read back, verify and remove a file at the remote; say how that went.

    Raises CacheError for a remote that cannot be reached or read; one that cannot be written is fine for reading.
    """
    remote = open_remote(root)
    assert remote is not None
    with tempfile.TemporaryDirectory() as folder:
        probe, back = Path(folder) / "probe", Path(folder) / "back"
        probe.write_bytes(os.urandom(PROBE_BYTES))
        content = content_of(probe)
        _require_place(remote)
        try:
            remote.send(probe, content)
        except CacheError as error:
            if not is_refusal(error):
                raise
            count = len(remote.all_records())
            return f"readable, with {count} record{'' if count == 1 else 's'}; not writable for you: results stay here"
        remote.fetch(content, back)
        remote.remove(remote.object(content))
    return "written, read back and verified"


def _require_place(remote: Remote) -> None:
    """Raise CacheError where the folder or bucket of a remote is not there: a typing error must not make a new one."""
    if remote.fs.protocol == "local" and not Path(remote.base).is_dir():
        raise CacheError(remote.url, "is no directory.", f"mkdir -p {remote.base}, or correct the path")
    if remote.fs.protocol == "ssh" and not remote.exists(remote.base):
        raise CacheError(
            remote.url, "there is no such folder on that host.", f"mkdir -p {remote.base} there, or correct it"
        )
