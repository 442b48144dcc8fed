"""Errors and warnings about labels that the rows of a train set name."""

import pytest

from data.classification.classification_examples import InputExample
from data.classification.user_tables.label_checks import (
    check_label_column,
    log_label_counts,
    warn_of_joined_labels,
    warn_of_labels,
)


def examples(*labels):
    return [InputExample("row", "text", label=label) for label in labels]


def test_a_column_of_texts_is_an_error():
    texts = examples(*(f"text {i}" for i in range(30)))
    with pytest.raises(ValueError, match="contains 30 labels in 30 rows"):
        check_label_column("train.csv", "label", texts)


def test_a_column_that_begins_with_its_name_is_an_error():
    rows = examples("label", *"xyxyxyxyxy")
    with pytest.raises(ValueError, match="line 1 contains the label 'label'"):
        check_label_column("train.csv", "2", rows)


def test_a_column_of_labels_is_no_error():
    check_label_column("train.csv", "label", examples(*"xyxyxyxyxy"))


def test_rare_labels_are_those_of_few_rows_to_train_on(caplog):
    warn_of_labels(examples(*"yyyyyxn"), examples("m"))
    # A label that only the dev set has is not one of few rows to train on.
    assert "2 labels have fewer than 5 rows to train on: x, n" in caplog.text


def test_a_label_that_differs_in_one_letter_may_be_misspelled(caplog):
    warn_of_labels(examples(*["sports"] * 20), examples("sprots", "sport"))
    (record,) = caplog.records
    assert "may be misspelled: 'sport' (1), like" in record.getMessage()


def test_a_label_of_other_labels_shows_another_separator(caplog):
    labels = ["a", "a;b", "b"]
    warn_of_joined_labels("train.csv", labels, separator=";")
    assert not caplog.records
    warn_of_joined_labels("train.csv", labels, separator=",")
    (record,) = caplog.records
    assert "the label 'a;b' consists of other labels" in record.getMessage()


def test_labels_are_counted_in_the_order_of_the_task(caplog):
    caplog.set_level("INFO")
    log_label_counts(["b", "a", "c"], examples(*"aab"))
    assert "Labels of the train set: b 1, a 2, c 0" in caplog.text
