"""Texts that are in two sets."""

import pytest

from data.sets.repeated_texts import RepeatedTexts

KEYS = {"train": ["a", "b", "b", "c"], "dev": ["c", "b", "x"]}


@pytest.mark.parametrize("order", [("train", "dev"), ("dev", "train")])
def test_the_file_of_the_dev_set_is_named_in_any_order(caplog, order):
    texts = RepeatedTexts()
    for set_name in order:
        texts.add(set_name, f"{set_name}.csv", KEYS[set_name])
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    message = record.getMessage()
    assert message.startswith("dev.csv: 2 texts")


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
