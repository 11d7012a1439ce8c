import re

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scaling_collapse.corpus import deduplicate as module
from scaling_collapse.corpus.deduplicate import GRAM_WORDS, deduplicate, new_paragraphs
from scaling_collapse.corpus.document import Document
from tests.unit.corpus.helpers import sentences


def test_exact_and_near_repeats_go_the_first_stays():
    base = " ".join(sentences(5, 1))
    near = base.replace("decay", "Decay", 1) + " One more remark."
    other = " ".join(sentences(5, 2))
    documents = [Document("a", f"{base}\n{other}"), Document("b", f"{base}\n{near}\n" + " ".join(sentences(5, 3)))]
    kept = deduplicate(documents, min_characters=1)
    assert kept == [Document("a", f"{base}\n{other}"), Document("b", " ".join(sentences(5, 3)))]


def test_documents_with_little_left_are_dropped():
    text = " ".join(sentences(3, 1))
    assert [d.name for d in deduplicate([Document("a", text), Document("b", text)], min_characters=10)] == ["a"]


def test_texts_shorter_than_a_gram_are_kept():
    assert new_paragraphs(["one two three", "one two three four", ""]).tolist() == [True, True, True]


def test_no_paragraphs():
    assert new_paragraphs([]).tolist() == []


def plain(paragraphs, one_in_is_one=True):
    """The same rule with sets of word tuples, all grams compared."""
    seen, result = {}, []
    for index, paragraph in enumerate(paragraphs):
        words = re.findall(rb"[0-9a-z\x80-\xff]+", paragraph.encode().lower())
        grams = [tuple(words[i : i + GRAM_WORDS]) for i in range(len(words) - GRAM_WORDS + 1)]
        for gram in grams:
            seen.setdefault(gram, index)
        result.append(sum(seen[gram] < index for gram in grams) <= 0.5 * len(grams))
    return result


paragraph = st.lists(st.sampled_from(["a", "B", "bé", "c1", "d-e", "f,", "G"]), max_size=30).map(" ".join)


@settings(max_examples=50, deadline=None)
@given(st.lists(paragraph, max_size=8))
def test_agrees_with_plain_sets(paragraphs):
    old = module.SAMPLE_ONE_IN, module._BLOCK_CHARACTERS
    module.SAMPLE_ONE_IN, module._BLOCK_CHARACTERS = 1, 60  # compare all grams, in blocks of a few paragraphs
    try:
        assert new_paragraphs(paragraphs).tolist() == plain(paragraphs)
    finally:
        module.SAMPLE_ONE_IN, module._BLOCK_CHARACTERS = old


def test_word_hashes_ignore_case_and_punctuation():
    first, starts = module._word_hashes(b"Hello, (world)")
    second, _ = module._word_hashes(b"hello WORLD")
    assert starts.tolist() == [0, 8]
    np.testing.assert_array_equal(first, second)
