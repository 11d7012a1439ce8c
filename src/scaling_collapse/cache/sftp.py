"""Uploads over SSH with few round trips: to a server some way off, each takes longer than sending a small file."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any


def upload(fs: Any, source: Path, partial: str, target: str, mode: int) -> None:
    """Write a file under another name, give it its rights, and move it into its place."""
    server = fs.fs

    async def put() -> None:
        async with server._pool.get() as channel:
            try:
                await channel.put(str(source), partial)
                await channel.chmod(partial, mode)
                await server._mv(partial, target)
            except BaseException:
                with suppress(Exception):
                    await channel.unlink(partial)
                raise

    _run(server, put)


def make_folder(fs: Any, path: str, mode: int) -> None:
    """Make a folder whose parent exists, with these rights whatever the server's umask; somebody may be faster."""
    from asyncssh import SFTPFailure

    server = fs.fs

    async def make() -> None:
        async with server._pool.get() as channel:
            try:
                await channel.mkdir(path)
            except SFTPFailure:
                if not await channel.isdir(path):
                    raise
            else:
                await channel.chmod(path, mode)

    _run(server, make)


def _run(server: Any, work: Any) -> None:
    from fsspec.asyn import sync  # type: ignore[import-untyped]

    sync(server.loop, work)
