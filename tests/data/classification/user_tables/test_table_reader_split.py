"""One table becomes a train set and a dev set, by the texts of its rows."""

import itertools

import pytest

from data.sets.text_keys import key_of
from tests.support.tables.labeled_tables import read_topics, split_rows

LABELS = ("boats", "farms", "inns")


@pytest.fixture(scope="module")
def rows():
    """The texts and labels of a table."""
    return read_topics()


def test_other_labels_move_no_row_to_the_other_set(tmp_path, rows):
    relabeled = [(text, LABELS[len(text) % 3]) for text, _ in rows]
    assert split_rows(tmp_path, relabeled) == split_rows(tmp_path, rows)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(" ", "  ", 1),
        lambda text: f" {text}",
        str.upper,
        lambda text: text.replace(" ", "\u00a0"),
        lambda text: text.replace("a", "a\u200b"),
        lambda text: text.replace("é", "e\u0301"),
        lambda text: text.replace("é", "e"),
    ],
    ids=[
        "two spaces",
        "a space before",
        "capitals",
        "other spaces",
        "a space of no width",
        "a combined accent",
        "no accent",
    ],
)
def test_copies_that_look_alike_share_a_set(tmp_path, rows, change):
    copies = [(change(text), label) for text, label in rows]
    train, dev = split_rows(tmp_path, [*rows, *copies])
    texts_of_train = {text for (text,) in train}
    # A table is read without the blanks around its texts.
    moved = [
        text
        for text, _ in rows
        if (text in texts_of_train) != (change(text).strip() in texts_of_train)
    ]
    assert moved == []
    assert dev


def test_a_pair_and_its_reverse_share_a_set(tmp_path, rows):
    pairs = [
        (text, other, LABELS[len(text) % 2])
        for (text, _), (other, _) in itertools.pairwise(rows)
    ]
    reversed_pairs = [(other, text, label) for text, other, label in pairs]
    train, dev = split_rows(
        tmp_path,
        pairs + reversed_pairs,
        names=("text", "other", "label"),
        text_b_column="other",
    )
    assert {*map(frozenset, train)}.isdisjoint(map(frozenset, dev))


@pytest.mark.parametrize("name", ["train", "dev"])
def test_a_set_without_rows_is_an_error(tmp_path, rows, name):
    train, dev = split_rows(tmp_path, rows)
    (text,) = (train if name == "dev" else dev)[0]
    twice = [(text, "boats"), (text, "inns")]
    message = f"none of the 2 rows is in the {name}"
    with pytest.raises(ValueError, match=message):
        split_rows(tmp_path, twice)


def test_all_passages_of_a_query_share_a_set(tmp_path):
    rows = [(f"Which {i // 4}?", f"p{i}", int(i % 4 == 0)) for i in range(400)]
    rows += [(f"which  {i}?", f"another {i}", 0) for i in range(100)]
    names = ("query", "passage", "relevance")
    train, dev = split_rows(tmp_path, rows, task="ranking", names=names)
    train_queries, dev_queries = (
        {key_of([query]) for query, _ in texts_of_set}
        for texts_of_set in (train, dev)
    )
    assert train_queries.isdisjoint(dev_queries)
    # Each of the 100 queries, which have five passages each.
    assert len(train_queries | dev_queries) == 100
    assert 10 < len(dev_queries) < 30
    assert len(train) + len(dev) == len(rows)
