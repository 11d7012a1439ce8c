"""Setting a cache up: `.dvc/config`, and the proof that what is written there can be read back."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from scaling_collapse.cache.connection import is_refusal, reason
from scaling_collapse.cache.remote import Remote, open_remote
from scaling_collapse.cache.repository import is_repository, open_repository
from scaling_collapse.errors import CacheError
from scaling_collapse.identity.hashing import content_of

#: Names of the remote in .dvc/config and .dvc/config.local; two, since DVC would mix the options of one.
NAMES = {"repo": "lab", "local": "mine"}
#: What a URL may begin with, and the package that DVC needs for it.
SCHEMES = {"": None, "ssh": "dvc-ssh", "s3": "dvc-s3"}
#: Options that nobody else should read.
SECRETS = frozenset({"password", "passphrase", "secret_access_key", "session_token", "sse_customer_key"})
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
    if shared is not None and not shared.is_absolute():
        raise CacheError(
            str(shared), "is a relative path, which means another folder in each clone.", "give it from / on"
        )
    if not private and (secret := SECRETS & options.keys()):
        raise CacheError(
            f"--option {min(secret)}", "would be in .dvc/config, which is committed for all to read.", "add --private"
        )
    level = "local" if private else "repo"
    with tempfile.TemporaryDirectory() as folder:  # so that whatever stops this, the configuration is as it was
        trial = Path(folder)
        (trial / ".dvc").mkdir()
        for file in root.glob(".dvc/config*"):
            shutil.copyfile(file, trial / ".dvc" / file.name)
        try:
            _write(trial, level, url, shared, options)
            _require_use(trial, url, shared)
            if shared is not None:
                try_directory(shared)
                tell(f"shared cache {shared}: written, read back and verified; files are links into it")
            if url is not None:
                tell(f"remote {url}: {try_remote(trial)}")
        except CacheError:
            raise
        except Exception as error:
            raise CacheError(url or str(shared), reason(error)) from error
    _write(root, level, url, shared, options)


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
                name = NAMES[level]
                edited.setdefault("core", {})["remote"] = name
                edited.setdefault("remote", {})[name] = {"url": _written(url)}
                if "://" not in url and _is_for_a_group(Path(url).expanduser()):
                    edited["remote"][name]["shared"] = "group"  # what plain `dvc push` makes there is theirs as well
                edited["remote"][name].update(options)
            if shared is not None:
                edited["cache"] = {"dir": str(shared), "shared": "group", "type": "symlink,copy"}
    except ConfigError as error:
        raise CacheError(
            ".dvc/config", f"{error}", "see `dvc remote modify --help` for the options of a remote"
        ) from error
    open_repository.cache_clear()


def _require_use(root: Path, url: str | None, shared: Path | None) -> None:
    """Raise CacheError where .dvc/config.local says otherwise, so that what was just written is not what is used."""
    config = open_repository(root).config
    used = config["remote"].get(config["core"].get("remote"), {}).get("url")
    folder = config["cache"].get("dir")
    if (url is not None and used != _written(url)) or (shared is not None and folder != str(shared)):
        raise CacheError(
            ".dvc/config.local", "sets another cache or remote for this clone.", "add --private, or remove that file"
        )


def _written(url: str) -> str:
    return url if "://" in url else str(Path(url).expanduser())


def _is_for_a_group(folder: Path) -> bool:
    return folder.is_dir() and bool(folder.stat().st_mode & stat.S_IWGRP)


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
