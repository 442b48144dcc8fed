"""Labels that differ only in their spelling, or are perhaps misspelled."""

import pytest

from data.sets.label_spelling import (
    describe_misspelled_labels,
    list_similar_labels,
)


def test_labels_that_differ_in_case_or_spaces_are_similar():
    labels = ["Ham", "spam", "ham", "new york", "New  York"]
    assert list_similar_labels(labels) == [
        ["Ham", "ham"],
        ["new york", "New  York"],
    ]


@pytest.mark.parametrize("rare", ["sport", "ssports", "sposts"])
def test_a_rare_label_one_letter_from_a_frequent_one_is_misspelled(rare):
    (description,) = describe_misspelled_labels({"sports": 20, rare: 2})
    assert description == f"{rare!r} (2), like 'sports' (20)"


@pytest.mark.parametrize(
    "counts",
    [
        {"sports": 20, "sport": 3},
        {"part1": 20, "part2": 1},
        {"ham": 20, "am": 1},
        {"sports": 20, "Sports": 1},
    ],
    ids=["not rare", "a digit", "short", "the case"],
)
def test_other_labels_are_not_misspelled(counts):
    assert describe_misspelled_labels(counts) == []
