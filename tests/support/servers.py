"""Servers of a lab, real and on this machine: SSH, S3, and a host that never answers."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

SECONDS = 30  # for a server to start
PRIVSEP = Path("/run/sshd")  # an empty folder that sshd wants to exist where root runs it


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(ready: Callable[[], bool], seconds: float = SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def find_sshd(folder: Path) -> str:
    """Return the path of sshd, fetched as Debian's package where it is not installed. Skips the test without one."""
    path = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    if path is None and shutil.which("apt-get") and shutil.which("dpkg-deb"):
        subprocess.run(["apt-get", "download", "openssh-server"], cwd=folder, capture_output=True)
        for package in folder.glob("openssh-server*.deb"):
            subprocess.run(["dpkg-deb", "-x", str(package), str(folder / "package")], capture_output=True)
        unpacked = folder / "package/usr/sbin/sshd"
        if unpacked.exists() and subprocess.run([unpacked, "-V"], capture_output=True).returncode == 0:
            path = str(unpacked)
    if path is None or shutil.which("ssh-keygen") is None:
        pytest.skip("no openssh-server here, and it cannot be fetched")
    return path


@dataclass
class SshServer:
    """sshd with a host key, a user key and a port of its own; `home` is for a user who knows that host."""

    sshd: str
    folder: Path
    port: int
    read_only: bool = False
    process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        for name in ("host", "key", "stranger"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name], check=True)
        (self.folder / "remote").mkdir()
        (self.folder / "home/.ssh").mkdir(parents=True)
        host_key = " ".join((self.folder / "host.pub").read_text().split()[:2])
        (self.home / ".ssh/known_hosts").write_text(f"[127.0.0.1]:{self.port} {host_key}\n")
        config = {
            "Port": self.port,
            "ListenAddress": "127.0.0.1",
            "HostKey": self.folder / "host",
            "AuthorizedKeysFile": self.folder / "key.pub",
            "PidFile": "none",
            "StrictModes": "no",
            "UsePAM": "no",
            "PasswordAuthentication": "no",
            "Subsystem": "sftp internal-sftp" + (" -R" if self.read_only else ""),
        }
        (self.folder / "config").write_text("".join(f"{name} {value}\n" for name, value in config.items()))

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def remote(self) -> Path:
        return self.folder / "remote"

    def arguments(self, key: str = "key", port: int | None = None, folder: str = "remote", user: str = "") -> str:
        """What `collapse cache init` needs to use it."""
        words = [f"--remote ssh://127.0.0.1{self.folder / folder}", f"--option port={port or self.port}"]
        words += [f"--option keyfile={self.folder / key}"] if key else []
        return " ".join([*words, f"--option user={user or getpass.getuser()}"])

    @property
    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.home), "SSH_AUTH_SOCK": ""}

    def start(self) -> None:
        if os.geteuid() == 0:
            PRIVSEP.mkdir(exist_ok=True)
        command = [self.sshd, "-D", "-f", str(self.folder / "config"), "-E", str(self.folder / "log")]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        wait_until(lambda: listens(self.port))

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def stop(self) -> None:
        if self.process is not None:
            for session in psutil.Process(self.pid).children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    session.kill()
            self.process.kill()
            self.process.wait()
            self.process = None


@contextmanager
def ssh_server(folder: Path, read_only: bool = False) -> Iterator[SshServer]:
    server = SshServer(find_sshd(folder), folder, free_port(), read_only)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@dataclass
class S3Server:
    """moto's server with the bucket `lab`, which from then on asks everybody for credentials."""

    port: int
    process: subprocess.Popen[bytes]
    writer: dict[str, str]
    reader: dict[str, str]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def arguments(self, bucket: str = "lab", port: int | None = None) -> str:
        """What `collapse cache init` needs to use it."""
        return f"--remote s3://{bucket}/scaling --option endpointurl=http://127.0.0.1:{port or self.port}"

    @property
    def environment(self) -> dict[str, str]:
        return self.writer


@contextmanager
def s3_server(folder: Path) -> Iterator[S3Server]:
    pytest.importorskip("moto.server")
    port = free_port()
    with (folder / "log").open("wb") as log:
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        wait_until(lambda: listens(port))
        yield S3Server(port, process, *_people(f"http://127.0.0.1:{port}"))
    finally:
        process.kill()
        process.wait()


def _people(url: str) -> Iterator[dict[str, str]]:
    """Make the bucket and two users, who may write and who may read, and turn everybody else away."""
    import boto3

    place = {"endpoint_url": url, "region_name": "us-east-1", "aws_access_key_id": "a", "aws_secret_access_key": "a"}
    boto3.client("s3", **place).create_bucket(Bucket="lab")
    iam = boto3.client("iam", **place)
    for name, actions in (("writer", '"s3:*"'), ("reader", '["s3:Get*", "s3:List*"]')):
        iam.create_user(UserName=name)
        statement = f'{{"Effect": "Allow", "Action": {actions}, "Resource": "*"}}'
        policy = f'{{"Version": "2012-10-17", "Statement": [{statement}]}}'
        iam.put_user_policy(UserName=name, PolicyName="lab", PolicyDocument=policy)
        key = iam.create_access_key(UserName=name)["AccessKey"]
        yield {
            "AWS_ACCESS_KEY_ID": key["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"],
            "AWS_EC2_METADATA_DISABLED": "true",
        }
    headers = {"Content-Type": "application/octet-stream"}
    urllib.request.urlopen(urllib.request.Request(f"{url}/moto-api/reset-auth", b"0", headers, method="POST"))


@contextmanager
def silent_server() -> Iterator[int]:
    """A port that takes connections and never says a word, as a host behind a broken network does."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        yield int(listener.getsockname()[1])
