"""Fetch packages with apt-get, without root and without touching the machine's own settings; unpack them in Python."""

from __future__ import annotations

import lzma
import os
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath

from scaling_collapse.corpus.catalog import Entry
from scaling_collapse.corpus.fetch import Download, run_client
from scaling_collapse.errors import CorpusError

# Component that holds documents under licences that forbid changes, by distribution.
_COMPONENT = {"debian": "non-free", "ubuntu": "multiverse"}
_AR_MAGIC, _AR_HEADER = b"!<arch>\n", 60  # deb(5), ar(5)
_OTHER_SOURCE = "use another corpus.source, such as pip_text"


@dataclass(frozen=True)
class _Archive:
    """A package archive that the machine uses already."""

    site: str
    release: str
    signed_by: str


def distribution(os_release: str) -> str:
    """Tell debian or ubuntu from the text of /etc/os-release. Raises CorpusError for others."""
    fields = dict(line.split("=", 1) for line in os_release.splitlines() if "=" in line)
    names = [fields.get("ID", ""), *fields.get("ID_LIKE", "").strip('"').split()]
    for name in names:
        if name.strip('"') in _COMPONENT:
            return name.strip('"')
    raise CorpusError("corpus.source debian_rfc", "this machine is neither Debian nor Ubuntu", _OTHER_SOURCE)


def own_archive(index_targets: str) -> _Archive:
    """Choose the main archive of the machine's own release from the fields `site|release|component|signed-by`."""
    for record in index_targets.split("\x1e"):
        fields = record.strip("\n").split("|", 3)
        # Names with a dash (-updates, -security, -backports) are additions to a release.
        if len(fields) == 4 and fields[2] == "main" and "-" not in fields[1]:
            return _Archive(fields[0], fields[1], fields[3].strip())
    raise CorpusError("corpus.source debian_rfc", "apt-get knows no main archive of this machine", _OTHER_SOURCE)


def _key_option(folder: Path, signed_by: str, distribution: str) -> str:
    """Option that names the archive's key: a file, or the key itself, or the distribution's own where none is told."""
    if signed_by.startswith("-----BEGIN"):
        key = folder / "key.asc"
        key.write_text(signed_by + "\n")
    elif signed_by.startswith("/"):
        key = Path(signed_by)
    else:  # empty, or the field's name where apt-get does not know it
        key = Path(f"/usr/share/keyrings/{distribution}-archive-keyring.gpg")
    return f"[signed-by={key}] " if key.exists() else ""


def _apt(folder: Path, entry: Entry) -> list[str]:
    """Prepare a private apt state in `folder` that also knows the component; return the command to use it."""
    if shutil.which("apt-get") is None:
        raise CorpusError("corpus.source debian_rfc", "needs apt-get, which this machine lacks", _OTHER_SOURCE)
    name = distribution(Path("/etc/os-release").read_text())
    record = "$(SITE)|$(RELEASE)|$(COMPONENT)|$(SIGNED_BY)\x1e"
    targets = run_client(["apt-get", "indextargets", "--format", record, "Created-By: Packages"], entry)
    archive = own_archive(targets)
    for part in ("lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    key = _key_option(folder, archive.signed_by, name)
    (folder / "sources.list").write_text(f"deb {key}{archive.site} {archive.release} {_COMPONENT[name]}\n")
    options = {
        "Dir::Etc::SourceList": folder / "sources.list",
        "Dir::Etc::SourceParts": "-",
        "Dir::State::Lists": folder / "lists",
        "Dir::Cache": folder / "cache",
        "Acquire::Languages": "none",
    }
    if os.geteuid() == 0:
        options["APT::Sandbox::User"] = "root"  # the sandbox user may not write to our folder
    command = ["apt-get", "--quiet=2", *(f"--option={key}={value}" for key, value in options.items())]
    run_client([*command, "update"], entry)
    return command


def apt_download(state: Path) -> Download:
    """Give a downloader that keeps a private apt state in `state`, updated once, before the first download."""
    command: list[str] = []

    def download(entry: Entry, folder: Path) -> None:
        if not command:
            command.extend(_apt(state.resolve(), entry))
        run_client([*command, "download", f"{entry.package}={entry.version}"], entry, cwd=folder)

    return download


def _data_member(path: Path) -> bytes:
    """The compressed tar archive with a package's files."""
    with path.open("rb") as file:
        if file.read(len(_AR_MAGIC)) != _AR_MAGIC:
            raise ValueError("not a Debian package")
        while len(header := file.read(_AR_HEADER)) == _AR_HEADER:
            name, size = header[:16].decode("ascii").strip().rstrip("/"), int(header[48:58])
            content = file.read(size + size % 2)[:size]
            if len(content) < size:
                raise ValueError("truncated")
            if name.startswith("data.tar"):
                return content
    raise ValueError("it has no data.tar")


def package_files(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (path inside the package, content) of a .deb's regular files, in memory only.

    Raises CorpusError for a damaged package, a compression that Python lacks, or a path that leaves the package.
    """
    try:
        with tarfile.open(fileobj=BytesIO(_data_member(path)), mode="r:*") as archive:
            for member in archive:
                inside = PurePosixPath(member.name)
                if inside.is_absolute() or ".." in inside.parts:
                    raise ValueError(f"it holds the unsafe path {member.name!r}")
                file = archive.extractfile(member) if member.isreg() else None
                if file is not None:
                    yield str(inside), file.read()
    except (OSError, ValueError, EOFError, tarfile.TarError, lzma.LZMAError, zlib.error) as error:
        raise CorpusError(str(path), f"cannot unpack: {error}", "delete the file and run the command again") from None
