"""The cache with real servers, other users, full disks, wrong clocks and nodes of a cluster, in throwaway clones."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.other_user import LAB, User, lab
from tests.support.scheduler import Scheduler
from tests.support.servers import S3Server, SshServer, free_port, s3_server, silent_server, ssh_server
from tests.workflow.clones import CORPUS, Clone, Outcome, duplicate, fresh, outcome

SCALE = "config/scale/smoke.yaml"
TOKENS = "tokens: 2000000"  # of the corpus, which is one stage of a second
OTHER_TOKENS = "tokens: 2100000"
CURVES = "results/smoke/curves/tpp_small.parquet"
BINARY = "results/smoke/corpus/train.bin"  # 4 MB
PATIENCE = 60  # for a host that does not answer: 30 s, and three Pythons that start at once on a busy machine [s]


@pytest.fixture(scope="module")
def ssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshServer]:
    with ssh_server(tmp_path_factory.mktemp("ssh")) as server:
        yield server


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with s3_server(tmp_path_factory.mktemp("s3")) as server:
        yield server


def init(clone: Clone, arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """`collapse cache init`, without a terminal that it could ask."""
    return clone.run(f"exec setsid -w collapse cache init {arguments} < /dev/null", **environment)


def corpus(clone: Clone, **environment: str) -> Outcome:
    return clone.make("build_corpus", **environment)


# -- SSH and S3 -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["ssh", "s3"])
def test_what_one_clone_makes_another_restores(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    server: SshServer | S3Server = request.getfixturevalue(kind)
    if isinstance(server, SshServer):
        server.remote.chmod(0o2770)
    a, b = fresh(tmp_path / "a"), fresh(tmp_path / "b")
    done = init(a, server.arguments(), **server.environment)
    assert done.returncode == 0, done.stderr
    assert "written, read back and verified" in done.stdout
    made = corpus(a, **server.environment)
    assert (made.code, made.ran) == (0, {CORPUS}), made.said
    assert "Pushed to the remote: 1 stage" in made.said
    shutil.copy(a.root / ".dvc/config", b.root / ".dvc/config")
    restored = corpus(b, **server.environment)
    assert (restored.code, restored.ran, restored.restored) == (0, set(), 1), restored.said
    assert (b.root / BINARY).read_bytes() == (a.root / BINARY).read_bytes()
    verified = b.run("collapse cache verify --remote", **server.environment)
    assert (verified.returncode, "0 damaged" in verified.stdout.splitlines()[-1]) == (0, True), verified.stdout
    if isinstance(server, SshServer):
        folders = {path.stat().st_mode & 0o7777 for path in server.remote.rglob("*") if path.is_dir()}
        assert folders == {0o2770}, "the rights of the folder, so that others can write there too"


def refused(clone: Clone, words: str, arguments: str, **environment: str) -> None:
    """Setting up fails with one clear line, soon, and changes nothing."""
    before = (clone.root / ".dvc/config").read_bytes()
    started = time.monotonic()
    done = init(clone, arguments, **environment)
    assert done.returncode == 2, done.stdout
    assert time.monotonic() - started < PATIENCE
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert words in line
    assert (clone.root / ".dvc/config").read_bytes() == before
    assert not (clone.root / ".dvc/config.local").exists()


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        ({"key": "stranger"}, "Permission denied for user"),
        ({"key": ""}, "Permission denied for user"),
        ({"user": "nobody-of-that-name"}, "Permission denied for user nobody-of-that-name"),
        ({"port": 9}, "Connect call failed"),
        ({"folder": "nowhere"}, "no such folder on that host"),
    ],
    ids=["wrong key", "no key", "wrong user", "wrong port", "missing folder"],
)
def test_a_mistake_with_ssh_is_told_in_one_line(
    clone: Clone, ssh: SshServer, mistake: dict[str, str], words: str
) -> None:
    refused(clone, words, ssh.arguments(**mistake), **ssh.environment)  # type: ignore[arg-type]


def test_a_host_that_is_not_known_is_not_trusted(clone: Clone, ssh: SshServer, tmp_path: Path) -> None:
    refused(clone, "Host key is not trusted", ssh.arguments(), **{**ssh.environment, "HOME": str(tmp_path)})


def test_a_mistake_with_s3_is_told_in_one_line(clone: Clone, s3: S3Server) -> None:
    refused(clone, "bucket is not there", s3.arguments("nobodys-bucket"), **s3.writer)
    wrong = {**s3.writer, "AWS_SECRET_ACCESS_KEY": "wrong"}
    refused(clone, "signature", s3.arguments(), **wrong)
    without = dict.fromkeys(s3.writer, "") | {"AWS_EC2_METADATA_DISABLED": "true"}
    refused(clone, "Unable to locate credentials", s3.arguments(), **without)


def test_a_host_that_does_not_answer_is_given_up(clone: Clone, ssh: SshServer, s3: S3Server) -> None:
    """All at once, since each is waited for."""
    before = (clone.root / ".dvc/config").read_bytes()
    with silent_server() as port:
        ways = [ssh.arguments(port=port), s3.arguments(port=port), s3.arguments(port=free_port())]
        commands = " & ".join(
            f"(time collapse cache init {way}) < /dev/null > {n}.out 2>&1" for n, way in enumerate(ways)
        )
        started = time.monotonic()
        clone.run(f"{commands} & wait", **{**ssh.environment, **s3.writer})
        assert time.monotonic() - started < PATIENCE
    said = [(clone.root / f"{number}.out").read_text() for number in range(len(ways))]
    assert [text.startswith("error: remote ") for text in said] == [True] * 3, said
    assert ["no answer within" in text for text in said] == [True, True, False], said
    assert (clone.root / ".dvc/config").read_bytes() == before


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return fresh(tmp_path / "clone")


@pytest.mark.parametrize("kind", ["ssh", "s3"])
def test_a_member_who_may_only_read_keeps_results_to_himself(
    kind: str, clone: Clone, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if kind == "ssh":
        with ssh_server(tmp_path, read_only=True) as server:
            reads_only(clone, server.arguments(), server.environment)
    else:
        s3: S3Server = request.getfixturevalue("s3")
        clone.edit(SCALE, TOKENS, OTHER_TOKENS)
        reads_only(clone, s3.arguments(), s3.reader)


def reads_only(clone: Clone, arguments: str, environment: dict[str, str]) -> None:
    done = init(clone, arguments, **environment)
    assert done.returncode == 0, done.stderr
    assert "not writable for you" in done.stdout
    made = corpus(clone, **environment)
    assert (made.code, made.ran) == (0, {CORPUS}), made.said
    assert "Kept on this machine only: 1 stage" in made.said
    assert "Not pushed" not in made.said


def breaking(clone: Clone, tmp_path: Path, script: str) -> dict[str, str]:
    """Let the corpus's job run a script at its end, and return what it needs to know."""
    clone.edit("workflow/rules/corpus.smk", "| tee -i {log}", "| tee -i {log}; bash $BREAK")
    (tmp_path / "break.sh").write_text(script)
    return {"BREAK": str(tmp_path / "break.sh")}


def test_a_connection_that_dies_meanwhile_is_opened_anew(clone: Clone, ssh: SshServer, tmp_path: Path) -> None:
    assert init(clone, ssh.arguments(), **ssh.environment).returncode == 0
    clone.edit(SCALE, TOKENS, "tokens: 2200000")
    script = f"kill -9 $(cat /proc/{ssh.pid}/task/{ssh.pid}/children)"
    done = corpus(clone, **ssh.environment, **breaking(clone, tmp_path, script))
    assert (done.code, done.ran) == (0, {CORPUS}), done.said
    assert "Pushed to the remote: 1 stage" in done.said
    assert str(ssh.port) not in done.said, "nothing to tell"


def test_what_a_dead_server_misses_is_pushed_by_the_next_run(clone: Clone, ssh: SshServer, tmp_path: Path) -> None:
    assert init(clone, ssh.arguments(), **ssh.environment).returncode == 0
    clone.edit(SCALE, TOKENS, "tokens: 2300000")
    script = f"kill -9 {ssh.pid} $(cat /proc/{ssh.pid}/task/{ssh.pid}/children)"
    try:
        done = corpus(clone, **ssh.environment, **breaking(clone, tmp_path, script))
    finally:
        ssh.stop()
    assert (done.code, done.ran) == (0, {CORPUS}), done.said
    assert "Not pushed yet: 1 stage" in done.said
    assert done.said.count("Going on with the cache of this clone alone") == 1
    assert (clone.root / BINARY).stat().st_size == 2 * 2300000
    pushed = clone.run("collapse cache push", **ssh.environment)
    assert pushed.returncode == 2
    assert len(pushed.stderr.splitlines()) <= 2, pushed.stderr
    ssh.start()
    again = corpus(clone, **ssh.environment)
    assert (again.code, again.ran) == (0, set())
    assert "Pushed to the remote: 1 stage" in again.said
    shutil.rmtree(ssh.remote / "runs")
    assert clone.run("collapse cache push", **ssh.environment).stdout.splitlines()[-1] == "pushed: 1 stage"


# -- other users ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Desk:
    """A clone and whose it is."""

    clone: Clone
    user: User

    def run(self, line: str) -> subprocess.CompletedProcess[str]:
        return self.clone.run(self.user.command(line))

    def corpus(self) -> Outcome:
        return outcome(self.run("snakemake --cores 1 build_corpus --config scale=smoke"))

    def edit(self, old: str = TOKENS, new: str = OTHER_TOKENS) -> None:
        self.clone.edit(SCALE, old, new)


@dataclass(frozen=True)
class Lab:
    """A cache and a remote for the group, a folder that anybody can enter, and its people."""

    folder: Path
    people: dict[str, User]
    bob: Desk

    def desk(self, name: str, place: str, config: bool = True) -> Desk:
        desk = Desk(fresh(self.folder / place), self.people[name])
        if config:
            shutil.copy(self.bob.clone.root / ".dvc/config", desk.clone.root / ".dvc/config")
        desk.user.own(desk.clone.root)
        return desk


@pytest.fixture(scope="module")
def group() -> Iterator[Lab]:
    """Bob, who lets nobody read what he writes (umask 077), has made the corpus, into a shared cache and a remote."""
    with lab() as (folder, people):
        for name in ("cache", "remote"):
            (folder / name).mkdir()
            os.chown(folder / name, 0, LAB)
            (folder / name).chmod(0o2775)
        found = Lab(folder, people, Desk(fresh(folder / "bob"), people["bob"]))
        found.bob.user.own(found.bob.clone.root)
        done = found.bob.run(f"collapse cache init --remote {folder}/remote --shared-cache {folder}/cache")
        assert done.returncode == 0, done.stderr
        made = found.bob.corpus()
        assert (made.code, made.ran) == (0, {CORPUS}), made.said
        assert "Pushed to the remote: 1 stage" in made.said
        yield found


def state_of(folder: Path) -> dict[str, tuple[int, int, int, int]]:
    """Owner, inode, rights and time of change of every file."""
    files = {str(path): path.stat() for path in folder.rglob("*") if path.is_file()}
    return {path: (s.st_uid, s.st_ino, s.st_mode, s.st_mtime_ns) for path, s in files.items()}


def test_one_cache_for_all_users_of_a_machine(group: Lab) -> None:
    cache = group.folder / "cache"
    before = state_of(cache)
    alice = group.desk("alice", "alice-cache")
    restored = alice.corpus()
    assert (restored.code, restored.ran, restored.restored) == (0, set(), 1), restored.said
    outputs = list((alice.clone.root / "results/smoke/corpus").iterdir())
    assert len(outputs) == 4
    assert all(path.is_symlink() and path.resolve().is_relative_to(cache) for path in outputs)
    assert not (alice.clone.root / "logs/smoke/corpus.log").is_symlink()
    alice.edit()
    made = alice.corpus()
    assert (made.code, made.ran) == (0, {CORPUS}), made.said
    assert before.items() <= state_of(cache).items(), "nothing of Bob's was touched"
    group.bob.edit()
    taken = group.bob.corpus()
    assert (taken.code, taken.ran, taken.restored) == (0, set(), 1), taken.said
    group.bob.edit(OTHER_TOKENS, TOKENS)
    assert "0 damaged" in alice.run("collapse cache verify").stdout
    refusal = alice.run("collapse cache gc --yes --scale smoke")
    assert refusal.returncode == 2, "what one clone does not need, others are linked to"
    assert "is shared" in refusal.stderr
    assert before.items() <= state_of(cache).items()


def test_a_rerun_does_not_write_through_links_that_dvc_has_made(group: Lab) -> None:
    before = state_of(group.folder / "cache")
    alice = group.desk("alice", "alice-dvc")
    for name in ("dvc.lock", "dvc.yaml"):
        shutil.copy(group.bob.clone.root / name, alice.clone.root / name)
    alice.user.own(alice.clone.root)
    assert alice.run("git init -q . && dvc checkout -q").returncode == 0
    assert (alice.clone.root / "logs/smoke/corpus.tsv").is_symlink(), "DVC links logs as well"
    alice.edit(new="tokens: 2200000")
    made = alice.corpus()
    assert (made.code, made.ran) == (0, {CORPUS}), made.said
    assert before.items() <= state_of(group.folder / "cache").items()


def test_a_shared_folder_as_remote(group: Lab) -> None:
    before = state_of(group.folder / "remote")
    alice = group.desk("alice", "alice-remote", config=False)
    assert alice.run(f"collapse cache init --remote {group.folder}/remote").returncode == 0
    alice.edit(new="tokens: 2300000")
    made = alice.corpus()
    assert "Pushed to the remote: 1 stage" in made.said, "also into folders that Bob has made"
    assert before.items() <= state_of(group.folder / "remote").items()
    guest = group.desk("guest", "guest", config=False)
    told = guest.run(f"collapse cache init --remote {group.folder}/remote")
    assert "not writable for you" in told.stdout, told.stderr
    restored = guest.corpus()
    assert (restored.code, restored.ran, restored.restored) == (0, set(), 1), restored.said
    guest.edit(new="tokens: 2400000")
    alone = guest.corpus()
    assert (alone.code, alone.ran) == (0, {CORPUS})
    assert "Kept on this machine only: 1 stage" in alone.said
    cannot = guest.run(f"collapse cache init --shared-cache {group.folder}/cache")
    assert cannot.returncode == 2
    assert "cannot be written (Permission denied)" in cannot.stderr


def test_a_folder_that_may_not_be_read_is_named(group: Lab) -> None:
    record = next((group.folder / "remote").glob("runs/*/*"))
    rights = record.stat().st_mode
    guest = group.desk("guest", "guest-blind", config=False)
    guest.run(f"collapse cache init --remote {group.folder}/remote")
    for folder in (group.folder / "remote").glob("runs/*/*"):
        folder.chmod(0o700)
    try:
        done = guest.corpus()
    finally:
        for folder in (group.folder / "remote").glob("runs/*/*"):
            folder.chmod(rights)
    assert (done.code, done.ran) == (0, {CORPUS}), done.said
    assert "cannot be read with your rights" in done.said


# -- full disks -----------------------------------------------------------------------------------------------------
def test_a_full_cache_loses_no_result(clone: Clone) -> None:
    (clone.root / ".dvc/cache").mkdir()
    inside = (
        "mount -t tmpfs -o size=2m none .dvc/cache || exit 77; snakemake --cores 1 build_corpus --config scale=smoke"
    )
    done = clone.run(f"unshare --mount bash -c '{inside}; code=$?; ls -A .dvc/cache/files/md5/*; exit $code'")
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("no right to mount a small disk")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("No space left on device") == 1
    assert "not in the cache" in done.stderr
    assert ".part" not in done.stdout, "no half object takes the rest of the disk"
    assert ".tmp" not in done.stdout
    assert "Nothing to be done" in corpus(clone).said


def test_a_full_disk_leaves_no_half_file_of_a_restore(clone: Clone, tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk, since anybody can set it: the larger output does not fit."""
    (tmp_path / "remote").mkdir()
    clone.use(tmp_path / "remote")
    assert corpus(clone).code == 0
    clone.remove("results", ".work")
    small = "ulimit -f 2000; snakemake --cores 1 build_corpus --config scale=smoke"
    done = outcome(clone.run(small))
    assert "cannot be restored" in done.said
    assert done.code == 1, "the corpus does not fit in any way"
    assert clone.files("results") == set()
    clone.remove(".dvc/cache")
    far = outcome(clone.run(small))
    assert "cannot be written (File too large)" in far.said
    assert "Going on with the cache of this clone alone" not in far.said, "it is not the remote's fault"
    again = corpus(clone)
    assert (again.code, again.ran, again.restored) == (0, set(), 1), again.said


# -- nodes, clocks and DVC itself -----------------------------------------------------------------------------------
@dataclass(frozen=True)
class Cluster:
    """A clone in which nodes have made some curves, and the remote."""

    clone: Clone
    remote: Path


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    root = tmp_path_factory.mktemp("cluster")
    (root / "remote").mkdir()
    (root / "jobs").mkdir()
    a = fresh(root / "a", root / "remote")
    scheduler = Scheduler(root / "jobs")
    done = a.make(CURVES, scheduler.options)
    said = scheduler.take()
    assert done.code == 0, done.said + "".join(said)
    assert len(said) == 4, "corpus, two runs, their curves"
    assert all("Pushed to the remote: 1 stage" in text for text in said)
    assert (a.root / "dvc.lock").read_text().count("cmd: ") == 4
    return Cluster(a, root / "remote")


def test_nodes_of_a_cluster_use_the_cache(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    scheduler = Scheduler(tmp_path / "jobs")
    b = fresh(tmp_path / "b", cluster.remote)
    done = b.make(CURVES, scheduler.options)
    assert (done.code, done.restored, scheduler.take()) == (0, 1, []), done.said
    b.edit(SCALE, "tpp: [20, 80], tau: 0.2}\n  - {name: tpp_large", "tpp: [20, 60], tau: 0.2}\n  - {name: tpp_large")
    done = b.make(CURVES, scheduler.options)
    assert done.code == 0, done.said
    assert done.ran == {"Train 4k-tpp60-tau0.2-s0", "Collect the curves of tpp_small"}
    assert len(scheduler.take()) == 2


def shift(folder: Path, days: float) -> None:
    """Move the time of change of every file, as another clock would have set it."""
    for path in folder.rglob("*"):
        if path.is_file() and ".snakemake" not in path.parts:
            now = path.stat().st_mtime
            os.utime(path, (now + days * 86400, now + days * 86400))


@pytest.mark.parametrize("days", [1, -1])
def test_a_clock_that_is_a_day_off_reruns_nothing(cluster: Cluster, tmp_path: Path, days: int) -> None:
    shutil.copytree(cluster.remote, tmp_path / "remote")
    shift(tmp_path / "remote", -days)
    b = fresh(tmp_path / "b", tmp_path / "remote")
    shift(b.root, days)
    done = b.make(f"{CURVES} build_corpus")
    assert (done.code, done.ran, done.restored) == (0, set(), 2), done.said
    shift(b.root / "results/smoke/corpus", 2 * days)
    done = b.make(f"{CURVES} build_corpus")
    assert (done.code, done.finished, done.restored) == (0, set(), 0), done.said
    b.edit(SCALE, TOKENS, OTHER_TOKENS)
    shift(b.root / "config", -2)
    assert CORPUS in b.make(f"{CURVES} build_corpus", "-n").said, "and nothing is taken for what it is not"


def test_plain_dvc_tells_the_truth(cluster: Cluster, tmp_path: Path) -> None:
    a = duplicate(cluster.clone, tmp_path / "a")
    git = "git -c user.name=a -c user.email=a@example.org"
    assert a.run(f"git init -q . && git add -A && {git} commit -qm all && git status --short").stdout == ""
    assert "up to date" in a.run("dvc status").stdout
    assert "Everything is up to date" in a.run("dvc push").stdout
    assert "smoke-collect_group-tpp_small" in a.run("dvc dag").stdout
    a.run(f"git clone -q . {tmp_path}/b")
    b = Clone(tmp_path / "b").use(cluster.remote)
    assert "deleted" in b.run("dvc status").stdout
    assert b.run(f"dvc pull -q {CURVES}").returncode == 0
    assert b.files() == {CURVES}
    made = b.make(CURVES)
    assert (made.code, made.finished, made.restored) == (0, set(), 0), made.said
    (b.root / CURVES).write_bytes(b"edited")
    assert "modified" in b.run("dvc status").stdout
    restored = b.make(CURVES)
    assert (restored.code, restored.ran, restored.restored) == (0, set(), 1), restored.said
    assert b.run("dvc pull -q").returncode == 0
    before = len(b.files(".dvc/cache/files"))
    (b.root / ".dvc/cache/files/md5/00").mkdir(exist_ok=True)
    (b.root / ".dvc/cache/files/md5/00/00000000000000000000000000000a").write_text("of no stage")
    assert b.run("dvc gc -w -f").returncode == 0
    assert len(b.files(".dvc/cache/files")) == before, "what the workspace names stays, and nothing else"
    assert "up to date" in b.run("dvc status").stdout
    assert "Nothing to be done" in b.make(CURVES).said
