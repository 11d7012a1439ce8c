import json

import numpy as np
import pytest

from scaling_collapse.config.corpus import ContextTree, Corpus
from scaling_collapse.corpus.build import build_corpus
from scaling_collapse.corpus.open import open_corpus, require_settings
from scaling_collapse.errors import CorpusError
from scaling_collapse.paths import Paths


@pytest.fixture
def folder(tmp_path):
    source = ContextTree(tokens=2000, held_out_tokens=1024, successors=4, rows=64)
    paths = Paths("smoke", tmp_path)
    build_corpus(Corpus(source=source, vocabulary=32), paths)
    return paths.corpus


def test_shards_are_little_endian_read_only_memory_maps(folder):
    corpus = open_corpus(folder)
    assert isinstance(corpus.train, np.memmap)
    assert corpus.train.dtype == np.dtype("<u2")
    assert np.array_equal(corpus.train, np.frombuffer((folder / "train.bin").read_bytes(), "<u2"))
    with pytest.raises(ValueError, match="read-only"):
        corpus.train[0] = 1


@pytest.mark.parametrize("name", ["train.bin", "held_out.bin"])
def test_missing_or_truncated_shard(folder, name):
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[:-2])
    with pytest.raises(
        CorpusError, match=rf"{name}: has {len(content) - 2} bytes, corpus.json says {len(content)} bytes"
    ):
        open_corpus(folder)
    (folder / name).unlink()
    with pytest.raises(CorpusError, match=rf"{name}: is missing.*collapse corpus build"):
        open_corpus(folder)


@pytest.mark.parametrize("name", ["train.bin", "held_out.bin", "tokenizer.json"])
def test_changed_byte_is_found_by_hash(folder, name):
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / name).write_bytes(content)
    open_corpus(folder)
    with pytest.raises(CorpusError, match=rf"{name}: damaged"):
        open_corpus(folder, check_hashes=True)


def test_missing_tokenizer_is_found_by_verification(folder):
    (folder / "tokenizer.json").unlink()
    with pytest.raises(CorpusError, match=r"tokenizer\.json: is missing"):
        open_corpus(folder, check_hashes=True)


def test_corpus_of_other_settings(folder):
    info = open_corpus(folder).info
    settings = Corpus.model_validate(info.settings)
    require_settings(info, settings)
    require_settings(info, settings.model_copy(update={"max_epochs": 3}))
    with pytest.raises(CorpusError, match=r"corpus\.split_salt: the corpus on disk was built with .*, wanted is other"):
        require_settings(info, settings.model_copy(update={"split_salt": "other"}))


def test_no_corpus(tmp_path):
    with pytest.raises(CorpusError, match=r"corpus\.json: there is no corpus here.*collapse corpus build"):
        open_corpus(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("{", "garbled"),
        ("[]", "garbled"),
        ({"train_tokens": -5}, r"garbled \(train_tokens"),
        ({"dtype": "float32"}, r"garbled \(dtype"),
        ({"extra": 1}, r"garbled \(extra"),
        ({"format": 2}, r"garbled \(format"),
        ({"dtype": "uint32"}, r"train\.bin: has 4000 bytes, corpus\.json says 8000"),
    ],
)
def test_garbled_description(folder, change, message):
    path = folder / "corpus.json"
    text = change if isinstance(change, str) else json.dumps(json.loads(path.read_text()) | change)
    path.write_text(text)
    with pytest.raises(CorpusError, match=message):
        open_corpus(folder)
