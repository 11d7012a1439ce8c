import json

import pandas as pd
import pytest

from scaling_collapse.config.corpus import FilePart, Files
from scaling_collapse.corpus.document import Document
from scaling_collapse.corpus.sources.files import cut, mix, read_parts
from scaling_collapse.errors import CorpusError


def read(root, *patterns, **settings):
    parts = tuple(FilePart(path=pattern) for pattern in patterns)
    return read_parts(Files(parts=parts, **settings), root, "salt")


def test_three_kinds_word_for_word(tmp_path):
    (tmp_path / "a.txt").write_text("  One.\r\n\r\nTwo é.\n", newline="")
    (tmp_path / "b.jsonl").write_text(json.dumps({"text": "three", "id": 1}) + "\n\n" + json.dumps({"text": "four"}))
    pd.DataFrame({"text": ["five", " ", "six"], "n": [1, 2, 3]}).to_parquet(tmp_path / "c.parquet")
    documents, files = read(tmp_path, "*")
    assert documents == [
        Document("a.txt", "  One.\r\n\r\nTwo é.\n"),
        Document("b.jsonl#1", "three"),
        Document("b.jsonl#3", "four"),
        Document("c.parquet#1", "five"),
        Document("c.parquet#3", "six"),
    ]
    assert [name for name, _ in files] == ["a.txt", "b.jsonl", "c.parquet"]


def test_long_text_is_cut_at_blank_lines_and_nothing_is_lost(tmp_path):
    text = "\n\n".join(f"Paragraph {n} " + "word " * 60 for n in range(50))
    (tmp_path / "a.txt").write_text(text)
    documents, _ = read(tmp_path, "a.txt", document_bytes=1024)
    assert "".join(d.text for d in documents) == text
    assert all(1024 <= len(d.text) < 1400 for d in documents[:-1])
    assert [d.name for d in documents[:2]] == ["a.txt#1", "a.txt#2"]
    assert "".join(cut("a\nb\nc\n", 1)) == "a\nb\nc\n"
    assert len(cut("a\nb\nc\n", 1)) == 3


def test_other_text_key(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"body": "x"}')
    assert read(tmp_path, "a.jsonl", text_key="body")[0] == [Document("a.jsonl#1", "x")]


def test_equal_texts_count_once(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "x"}\n{"text": "y"}')
    (tmp_path / "b.jsonl").write_text('{"text": "y"}\n{"text": "z"}')
    assert [d.text for d in read(tmp_path, "a.jsonl", "*.jsonl")[0]] == ["x", "y", "z"]
    with pytest.raises(CorpusError, match="repeats the texts"):
        read(tmp_path, "*.jsonl", "a.jsonl")


def test_mixture_has_the_shares_and_is_as_large_as_possible():
    first = [Document(f"a{n}", "x" * 100) for n in range(100)]
    second = [Document(f"b{n}", "é" * 50) for n in range(30)]
    mixed = mix([first, second], [3, 1], "s")
    assert sum(d.name[0] == "b" for d in mixed) == 30
    assert sum(d.name[0] == "a" for d in mixed) == 90
    assert mix([first, second], [0.75, 0.25], "s") == mixed


def test_weights_are_used(tmp_path):
    for name in "ab":
        rows = [json.dumps({"text": f"{name} {n:04} {'x' * 90}"}) for n in range(40)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows))
    parts = (FilePart(path="a.jsonl", weight=1), FilePart(path="b.jsonl", weight=0.5))
    documents, _ = read_parts(Files(parts=parts), tmp_path, "s")
    assert [sum(d.text[0] == name for d in documents) for name in "ab"] == [40, 20]


def write_parquet_of_numbers(path):
    pd.DataFrame({"text": [1, 2]}).to_parquet(path)


def write_parquet_with_null(path):
    pd.DataFrame({"text": ["a", None]}).to_parquet(path)


def write_parquet_without_text(path):
    pd.DataFrame({"words": ["a"], "n": [1]}).to_parquet(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", None, r"a\.txt: no such file"),
        ("a.txt", b"", r"a\.txt: holds no text"),
        ("a.txt", b" \n\n ", r"a\.txt: holds no text"),
        ("a.txt", b"one\ntwo \xff", r"a\.txt:2: not UTF-8: byte 8 is 0xff"),
        ("a.csv", b"x", r"unknown kind '\.csv'"),
        ("a.jsonl", b'{"text": "x"}\n{"text": \n', r"a\.jsonl:2: not JSON"),
        ("a.jsonl", b'{"text": "x"}\n\n{"body": "x"}\n', r"a\.jsonl:3: needs an object with a string under 'text'"),
        ("a.jsonl", b'{"text": 3}', r"a\.jsonl:1: needs an object"),
        ("a.jsonl", b'["text"]', r"a\.jsonl:1: needs an object"),
        ("a.jsonl", b'{"text": "\xe9"}', r"a\.jsonl:1: not UTF-8"),
        ("a.jsonl", b"\n", r"a\.jsonl: holds no text"),
        ("a.parquet", b"PAR1 no", r"a\.parquet: not a parquet file"),
        ("a.parquet", write_parquet_without_text, r"has no column 'text'.*one of words, n"),
        ("a.parquet", write_parquet_of_numbers, r"row 1: 'text' is not a string"),
        ("a.parquet", write_parquet_with_null, r"row 2: 'text' is not a string"),
    ],
)
def test_bad_files(tmp_path, name, content, message):
    if callable(content):
        content(tmp_path / name)
    elif content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(CorpusError, match=message):
        read(tmp_path, name)
