import pytest

from scaling_collapse.corpus.prose import is_prose, paragraphs, prose_paragraphs, strip_markup

SENTENCE = "The operation returns the identifier of the job that it started"


def test_markup_links_and_entities_become_plain_text():
    text = "<p>Calls <code>Get&amp;Set</code>, see [the guide](https://example.org/a).</p><p>Then `stop`.</p>"
    assert paragraphs(strip_markup(text)) == ["Calls Get&Set, see the guide.", "Then stop."]


def test_wrapped_lines_join_and_list_items_part():
    assert paragraphs("One line\n  goes on.\n\n\nSteps:\n * first\n 2. second") == [
        "One line goes on.",
        "Steps:",
        "first",
        "second",
    ]


def test_less_than_signs_in_text_survive():
    assert strip_markup("if a < b and b > c") == "if a < b and b > c"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{SENTENCE}.", True),
        (f"({SENTENCE}.)", True),
        (SENTENCE, False),  # no end
        ("It stopped.", False),  # too short
        ("arn:aws:s3:::bucket/key-0123456789 2024-01-01T00:00:00Z 42 17 99 1.", False),  # identifiers
        (f"{SENTENCE} {'x' * 41}.", False),  # a key
    ],
)
def test_what_counts_as_prose(text, expected):
    assert is_prose(text) is expected


def test_descriptions_do_not_run_into_one_another():
    assert prose_paragraphs([f"<p>{SENTENCE}.", f"{SENTENCE} again.", "short"]) == [
        f"{SENTENCE}.",
        f"{SENTENCE} again.",
    ]
