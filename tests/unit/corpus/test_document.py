from hypothesis import given, settings
from hypothesis import strategies as st

from scaling_collapse.corpus.document import Document, first_bytes, hash_fraction, in_hash_order, split

NAMES = st.lists(st.text(max_size=3), min_size=2, max_size=20, unique=True)


@settings(max_examples=40, deadline=None)
@given(NAMES, st.floats(0.01, 0.49))
def test_split_partitions_and_both_sides_have_text(names, fraction):
    documents = [Document(name, name) for name in names]
    train, held_out = split(documents, fraction, "salt")
    assert train
    assert held_out
    assert sorted(d.name for d in train + held_out) == sorted(names)


def test_split_of_a_document_depends_on_its_name_only():
    names = [f"document {n}" for n in range(4000)]
    all_held_out = {d.name for d in split([Document(n, "") for n in names], 0.1, "s")[1]}
    some_held_out = {d.name for d in split([Document(n, "x") for n in reversed(names[::2])], 0.1, "s")[1]}
    assert some_held_out == all_held_out & set(names[::2])
    assert 330 < len(all_held_out) < 470  # binomial: 400, sd 19
    assert all(hash_fraction("s", n) < 0.1 for n in all_held_out)


def test_salt_changes_the_split():
    documents = [Document(f"{n}", "") for n in range(200)]
    assert split(documents, 0.1, "a")[1] != split(documents, 0.1, "b")[1]


def test_first_bytes_counts_utf8_and_takes_whole_documents():
    documents = [Document("a", "é" * 5), Document("b", "x" * 5), Document("c", "x")]
    assert [d.name for d in first_bytes(documents, 10)] == ["a"]
    assert [d.name for d in first_bytes(documents, 11)] == ["a", "b"]
    assert first_bytes(documents, None) == documents


@settings(max_examples=40, deadline=None)
@given(NAMES)
def test_hash_order_does_not_depend_on_the_given_order(names):
    documents = [Document(name, "") for name in names]
    assert in_hash_order(documents, "s") == in_hash_order(documents[::-1], "s")
