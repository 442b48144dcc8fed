"""One table becomes a train set and a dev set, by the texts of its rows."""

import itertools

import pytest

from data.sets.text_keys import key_of
from tests.support.tables.csv_files import write_csv
from tests.support.tables.labeled_tables import open_tables, read_topics

LABELS = ("boats", "farms", "inns")


@pytest.fixture(scope="module")
def rows():
    """The texts and labels of a table."""
    return read_topics()


def split_table(path, task_name="csv", **column_flags):
    """Returns the texts of the examples in the (train, dev) sets of a table."""
    sets = open_tables(None, task_name, data_file=path, **column_flags).sets
    train, dev = sets.read("train"), sets.read("dev")
    return (
        [tuple(example.texts) for example in train],
        [tuple(example.texts) for example in dev],
    )


def write_labeled(path, rows):
    """Writes a table of texts and labels."""
    write_csv(path, ("text", "label"), rows)


def test_other_labels_move_no_row_to_the_other_set(tmp_path, rows):
    write_labeled(tmp_path / "a.csv", rows)
    relabeled = [(text, LABELS[len(text) % 3]) for text, _ in rows]
    write_labeled(tmp_path / "b.csv", relabeled)
    assert split_table(tmp_path / "a.csv") == split_table(tmp_path / "b.csv")


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
    write_labeled(tmp_path / "a.csv", [*rows, *copies])
    train, dev = split_table(tmp_path / "a.csv")
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
    write_csv(
        tmp_path / "a.csv", ("text", "other", "label"), pairs + reversed_pairs
    )
    train, dev = split_table(tmp_path / "a.csv", text_b_column="other")
    assert {*map(frozenset, train)}.isdisjoint(map(frozenset, dev))


@pytest.mark.parametrize("name", ["train", "dev"])
def test_a_set_without_rows_is_an_error(tmp_path, rows, name):
    write_labeled(tmp_path / "all.csv", rows)
    train, dev = split_table(tmp_path / "all.csv")
    (text,) = (train if name == "dev" else dev)[0]
    write_labeled(tmp_path / "two.csv", [(text, "boats"), (text, "inns")])
    message = f"none of the 2 rows is in the {name}"
    with pytest.raises(ValueError, match=message):
        split_table(tmp_path / "two.csv")


def test_all_passages_of_a_query_share_a_set(tmp_path):
    rows = [(f"Which {i // 4}?", f"p{i}", int(i % 4 == 0)) for i in range(400)]
    rows += [(f"which  {i}?", f"another {i}", 0) for i in range(100)]
    write_csv(tmp_path / "a.csv", ("query", "passage", "relevance"), rows)
    train, dev = split_table(tmp_path / "a.csv", "ranking")
    train_queries, dev_queries = (
        {key_of([query]) for query, _ in texts_of_set}
        for texts_of_set in (train, dev)
    )
    assert train_queries.isdisjoint(dev_queries)
    # Each of the 100 queries, which have five passages each.
    assert len(train_queries | dev_queries) == 100
    assert 10 < len(dev_queries) < 30
    assert len(train) + len(dev) == len(rows)
