import gzip
import shutil

import pytest

from scaling_collapse.corpus import debian
from scaling_collapse.corpus.catalog import Entry
from scaling_collapse.corpus.debian import apt_download, distribution, own_archive, package_files
from scaling_collapse.corpus.sources.debian_rfc import read_packages, rfc_prose
from scaling_collapse.errors import CorpusError
from tests.unit.corpus.helpers import sentences, speeches_row, write_deb

ENTRY = Entry.model_validate(speeches_row("0" * 64))


def test_files_of_a_package(tmp_path):
    path = write_deb(tmp_path / "x.deb", {"./usr/a.txt": b"one", "./usr/b": b""})
    assert list(package_files(path)) == [("usr/a.txt", b"one"), ("usr/b", b"")]


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="needs dpkg-deb to build a real package")
def test_files_of_a_package_that_dpkg_made(tmp_path):
    import subprocess

    (tmp_path / "x" / "DEBIAN").mkdir(parents=True)
    (tmp_path / "x" / "DEBIAN" / "control").write_text(
        "Package: x\nVersion: 1\nArchitecture: all\nMaintainer: nobody <n@example.org>\nDescription: x\n"
    )
    (tmp_path / "x" / "a.txt").write_text("one")
    subprocess.run(["dpkg-deb", "-Zxz", "--build", "x", "x.deb"], cwd=tmp_path, check=True, capture_output=True)
    assert list(package_files(tmp_path / "x.deb")) == [("a.txt", b"one")]


@pytest.mark.parametrize("name", ["/etc/passwd", "./../../etc/passwd", "a/../../b"])
def test_unsafe_paths_are_refused(tmp_path, name):
    path = write_deb(tmp_path / "x.deb", {name: b"x"})
    with pytest.raises(CorpusError, match="unsafe path"):
        list(package_files(path))


@pytest.mark.parametrize("keep", [0, 4, 100, 220, -30])
def test_truncated_package(tmp_path, keep):
    path = write_deb(tmp_path / "x.deb", {"a": b"some text" * 100})
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(CorpusError, match=r"x\.deb: cannot unpack"):
        list(package_files(path))


def test_damaged_package(tmp_path):
    path = write_deb(tmp_path / "x.deb", {"a": bytes(range(256)) * 400})
    content = bytearray(path.read_bytes())
    content[-200] ^= 255
    path.write_bytes(content)
    with pytest.raises(CorpusError, match="cannot unpack"):
        list(package_files(path))


def test_distributions():
    assert distribution('PRETTY_NAME="Debian GNU/Linux 12"\nID=debian\n') == "debian"
    assert distribution('ID=linuxmint\nID_LIKE="ubuntu debian"\n') == "ubuntu"
    with pytest.raises(CorpusError, match="neither Debian nor Ubuntu"):
        distribution("ID=fedora\n")


def test_own_archive_is_the_main_one_of_the_release():
    records = ["s|r-updates|main|/k", "s|r|contrib|/k", "site|release|main|/key.gpg", "s|other|main|"]
    found = own_archive("\x1e\n".join(records))
    assert (found.site, found.release, found.signed_by) == ("site", "release", "/key.gpg")
    with pytest.raises(CorpusError, match="knows no main archive"):
        own_archive("")


def test_machine_without_apt_get(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CorpusError, match=r"needs apt-get, which this machine lacks.*pip_text"):
        apt_download(tmp_path / "state")(ENTRY, tmp_path)


def test_apt_get_is_called_with_a_state_of_its_own_and_updated_once(tmp_path, monkeypatch):
    calls = []

    def client(command, entry, cwd=None):
        calls.append(command)
        return "site|release|main|" if "indextargets" in command else ""

    monkeypatch.setattr(debian, "run_client", client)
    monkeypatch.setattr(debian.shutil, "which", lambda name: name)
    monkeypatch.setattr(debian, "distribution", lambda text: "debian")
    monkeypatch.setattr(debian.Path, "read_text", lambda path: "")
    download = apt_download(tmp_path / "state")
    download(ENTRY, tmp_path)
    download(ENTRY, tmp_path)
    assert [call[-1] for call in calls[1:]] == ["update", "sotu=0.1.2", "sotu=0.1.2"]
    for call in calls[1:]:
        assert f"--option=Dir::State::Lists={tmp_path / 'state' / 'lists'}" in call
        assert "--option=Dir::Etc::SourceParts=-" in call
    sources = (tmp_path / "state" / "sources.list").open().read()
    assert sources.startswith("deb ")
    assert sources.endswith("site release non-free\n")


PAGES = """
Network Working Group                                         A. Author
Request for Comments: 42                                      May 1999

1. Introduction

   This paragraph of the document is broken by the end of a page and
   goes on after the header of the

Author                       Informational                      [Page 1]
\f
RFC 42                       Introduction                       May 1999


   next page, where it comes to its well-
   known end.

   o  The first item of a list is a sentence of its own, with an end.

   +--------+      +--------+
   | client | ---> | server |
   +--------+      +--------+

   Copyright (C) The Internet Society (1999). All rights are reserved here.
"""


def test_prose_of_an_rfc():
    assert rfc_prose(PAGES) == [
        "This paragraph of the document is broken by the end of a page and goes on after the header of the next page, "
        "where it comes to its well-known end.",
        "The first item of a list is a sentence of its own, with an end.",
    ]


def test_rfcs_of_packages(tmp_path):
    text = "\n\n".join(f"   {s.split()[0]} and that is why {s}" for s in sentences(40, 1))
    path = write_deb(
        tmp_path / "x.deb", {"./usr/doc/rfc9.txt.gz": gzip.compress(text.encode()), "./usr/doc/readme": b"x"}
    )
    (document,) = read_packages([path])
    assert document.name == "rfc9"
    assert document.text.count("\n") == 39
    empty = write_deb(tmp_path / "y.deb", {"./usr/doc/readme": b"x"})
    with pytest.raises(CorpusError, match=r"y\.deb: holds no RFC text"):
        read_packages([empty])
    bad = write_deb(tmp_path / "z.deb", {"./rfc1.txt.gz": gzip.compress(text.encode())[:-20]})
    with pytest.raises(CorpusError, match=r"rfc1\.txt\.gz: cannot unpack"):
        read_packages([bad])
