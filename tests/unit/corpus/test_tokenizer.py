import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaling_collapse.corpus.document import Document
from scaling_collapse.corpus.tokenizer import (
    END_OF_TEXT,
    Encoder,
    load_tokenizer,
    number_tokenizer,
    save_tokenizer,
    train_tokenizer,
)
from scaling_collapse.errors import CorpusError
from tests.unit.corpus.helpers import sentences

DOCUMENTS = [Document(f"{n}", "\n".join(sentences(40, n))) for n in range(8)]
TOKENIZER = train_tokenizer(DOCUMENTS, 320)
ENCODER = Encoder(TOKENIZER)

# Any text, and texts made of what pre-tokens turn on: blanks, line ends, odd white space, digits, the marker itself.
PIECES = st.sampled_from(
    [
        " ",
        "  ",
        "\n",
        "\r\n",
        "\t",
        "\x0b",
        "\x1c",
        "\u00a0",
        "\u2028",
        "é",
        "日本",
        "👍",
        "7",
        "--",
        "the",
        "model",
        END_OF_TEXT,
        "<|",
        "'s",
    ]
)
TEXT = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=25).map("".join))


@settings(max_examples=300, deadline=None)
@given(TEXT)
def test_encodes_exactly_as_the_library_and_back(text):
    tokens = ENCODER.encode(text).tolist()
    assert tokens == TOKENIZER.encode(text).ids
    assert TOKENIZER.decode(tokens, skip_special_tokens=False) == text


def test_long_text_encodes_exactly_as_the_library():
    text = "\n\n".join(document.text for document in DOCUMENTS)
    tokens = Encoder(TOKENIZER).encode(text)
    assert tokens.tolist() == TOKENIZER.encode(text).ids
    assert tokens.dtype == np.dtype("<u2")
    assert len(text.encode()) / len(tokens) > 2  # merges were learned


def test_documents_are_joined_by_end_of_text():
    end = TOKENIZER.token_to_id(END_OF_TEXT)
    joined = np.concatenate(list(ENCODER.encode_documents(DOCUMENTS)))
    expected = [t for document in DOCUMENTS for t in (*TOKENIZER.encode(document.text).ids, end)]
    assert joined.tolist() == expected
    assert (joined == end).sum() == len(DOCUMENTS)


def test_marker_inside_a_document_is_text():
    assert TOKENIZER.token_to_id(END_OF_TEXT) not in ENCODER.encode(f"a {END_OF_TEXT} b")


def test_training_twice_gives_the_same_tokenizer():
    assert train_tokenizer(DOCUMENTS, 320).to_str() == TOKENIZER.to_str()


def test_saved_and_loaded(tmp_path):
    save_tokenizer(TOKENIZER, tmp_path / "tokenizer.json")
    loaded = load_tokenizer(tmp_path / "tokenizer.json")
    text = DOCUMENTS[0].text + END_OF_TEXT
    assert loaded.encode(text).ids == TOKENIZER.encode(text).ids


@pytest.mark.parametrize("content", [None, "", "{", '{"model": 1}'])
def test_missing_or_garbled_tokenizer(tmp_path, content):
    if content is not None:
        (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(CorpusError, match=r"tokenizer\.json: cannot read the tokenizer"):
        load_tokenizer(tmp_path / "tokenizer.json")


def test_vocabulary_too_small_for_bytes():
    with pytest.raises(CorpusError, match=r"256 is too small.*at least 257"):
        train_tokenizer(DOCUMENTS, 256)


def test_vocabulary_too_large_for_the_text():
    with pytest.raises(CorpusError, match=r"the text yields only \d+ tokens, 4096 were asked for"):
        train_tokenizer([Document("a", "aaa bbb aaa")], 4096)


def test_large_vocabularies_get_wide_tokens():
    assert Encoder(number_like(70_000)).dtype == np.dtype("<u4")


def number_like(size):
    tokenizer = number_tokenizer(size)
    tokenizer.add_special_tokens([END_OF_TEXT])
    return tokenizer


def test_number_tokenizer():
    assert number_tokenizer(20).encode("5 17 0").ids == [5, 17, 0]
