"""Texts that are in two sets, and labels that are perhaps misspelled."""

import pytest

from data.sets.set_warnings import (
    RepeatedTexts,
    describe_misspelled_labels,
    list_similar_labels,
)

KEYS = {"train": ["a", "b", "b", "c"], "dev": ["c", "b", "x"]}


@pytest.mark.parametrize("order", [("train", "dev"), ("dev", "train")])
def test_the_file_of_the_dev_set_is_named_in_any_order(caplog, order):
    texts = RepeatedTexts()
    for set_name in order:
        texts.add(set_name, f"{set_name}.csv", KEYS[set_name])
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    message = record.getMessage()
    assert message == "dev.csv: 2 texts are in the train set too"


@pytest.mark.parametrize("set_name", KEYS)
def test_a_text_that_repeats_within_one_set_is_not_warned_of(caplog, set_name):
    texts = RepeatedTexts()
    texts.add(set_name, "x.csv", ["a", "a"])
    assert not caplog.records


def test_sets_without_a_common_text_cause_no_warning(caplog):
    texts = RepeatedTexts()
    texts.add("train", "train.csv", ["a"])
    texts.add("dev", "dev.csv", ["b"])
    assert not caplog.records


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
