"""Splits of one table into a train set and a dev set: no row ever moves.

test_text_keys.py tests the keys that decide, and the `_split` tests of the
readers from which texts they make them.
"""

import math
import random

import pytest

from data.sets.held_sets import split_examples
from data.sets.text_keys import key_of
from tests.support.tables.labeled_tables import read_topics

FRACTIONS = [0.05, 0.1, 0.2, 0.3, 0.5, 0.8]


def split_column(texts, fraction=0.2):
    """Returns the texts in the (train, dev) sets of a table of one column."""
    texts = [*texts]
    keys = [key_of([text]) for text in texts]
    return split_examples("a.csv", texts, keys, fraction)


@pytest.fixture(scope="module")
def texts():
    """Different texts of a table."""
    return [text for text, _ in read_topics()]


@pytest.mark.parametrize("fraction", FRACTIONS)
@pytest.mark.parametrize("name", ["train", "dev", "test"])
def test_the_dev_set_has_about_the_requested_fraction_of_rows(name, fraction):
    texts = [text for text, _ in read_topics(name)]
    _, dev = split_column(texts, fraction)
    expected = len(texts) * fraction
    deviation = math.sqrt(expected * (1 - fraction))
    assert abs(len(dev) - expected) <= 3 * deviation


@pytest.mark.parametrize(
    "change",
    [
        lambda texts: [*texts, *more_texts()],
        lambda texts: [*more_texts(), *texts],
        lambda texts: random.Random(1).sample(texts, len(texts) - 100),
        sorted,
    ],
    ids=["appended", "put before", "deleted", "sorted"],
)
def test_added_or_removed_rows_move_no_row_to_the_other_set(texts, change):
    train, dev = split_column(texts)
    new_train, new_dev = split_column(change(texts))
    assert not {*train} & {*new_dev}
    assert not {*dev} & {*new_train}


def more_texts():
    """Returns 100 new texts."""
    return [f"A new text of number {i}." for i in range(100)]


@pytest.mark.parametrize(
    ("smaller", "larger"), [(0.1, 0.2), (0.2, 0.21), (0.21, 0.5), (0.5, 0.9)]
)
def test_larger_fractions_contain_smaller_ones(texts, smaller, larger):
    _, dev = split_column(texts, smaller)
    _, larger_dev = split_column(texts, larger)
    assert {*dev} <= {*larger_dev}


def test_both_sets_keep_the_order_of_the_rows(texts):
    train, dev = split_column(texts)
    assert sorted(train, key=texts.index) == train
    assert sorted(dev, key=texts.index) == dev


def test_rows_of_one_key_share_a_set():
    keys = ["one", "two", "three", "four"] * 2
    train, dev = split_examples("a.csv", range(8), keys, 0.5)
    assert {keys[row] for row in train}.isdisjoint(keys[row] for row in dev)
    assert len(train) + len(dev) == 8


@pytest.mark.parametrize("fraction", [0.001, 0.999])
def test_a_set_without_rows_is_an_error(fraction):
    name = "dev" if fraction < 0.5 else "train"
    message = rf"={fraction}, none of the 2 rows is in the {name} set"
    with pytest.raises(ValueError, match=message):
        split_examples("a.csv", ["a", "b"], ["a", "b"], fraction)
