"""The labels of a task in tables, and the warnings of strange labels."""

import pytest

from data.classification.classification_examples import InputExample
from data.classification.user_tables.table_labels import (
    check_label_column,
    choose_labels_of_flags,
    count_labels,
    list_labels,
    log_label_counts,
    warn_of_joined_labels,
    warn_of_labels,
)
from tests.support.log_lines import logged_warnings


def examples(*labels):
    return [InputExample("row", "text", label=label) for label in labels]


def test_rows_name_the_labels_in_alphabetical_order():
    labels = list_labels(examples(*"yyxnm"), "classification", "train.csv")
    assert labels == [*"mnxy"]


def test_a_train_set_of_one_label_is_an_error():
    with pytest.raises(ValueError, match=r"train.csv must name 2 .*'x'"):
        list_labels(examples("x", "x"), "classification", "train.csv")


def test_several_labels_may_be_a_single_one_that_is_on_or_off():
    rows = examples(["x"], [])
    assert list_labels(rows, "multilabel", "train.csv") == ["x"]


def test_count_labels_leaves_out_examples_without_a_label():
    assert count_labels(examples("x", None, ["x", "y"])) == {"x": 2, "y": 1}


def test_without_a_flag_only_the_rows_name_the_labels():
    assert choose_labels_of_flags(None, "classification", ["label"]) == []


@pytest.mark.parametrize("labels", [None, ["1", "2"]])
def test_a_regression_has_no_labels(labels):
    assert choose_labels_of_flags(labels, "regression", ["label"]) == []


@pytest.mark.parametrize("mode", ["classification", "multilabel"])
def test_a_label_of_a_flag_may_have_another_spelling(mode):
    labels = ["inns", "\ufeffold\u00a0boats"]
    assert choose_labels_of_flags(labels, mode, ["label"]) == [
        "inns",
        "old boats",
    ]


def test_a_flag_that_names_one_label_is_an_error():
    with pytest.raises(ValueError, match="--labels must name 2"):
        choose_labels_of_flags(["x"], "classification", ["label"])


@pytest.mark.parametrize(
    ("labels", "expected"),
    [(None, ["toxic", "insult"]), (["t", "i"], ["t", "i"])],
)
def test_several_columns_are_the_labels_unless_a_flag_names_them(
    labels, expected
):
    columns = ["toxic", "insult"]
    assert choose_labels_of_flags(labels, "multilabel", columns) == expected


def test_a_column_of_texts_is_an_error():
    texts = examples(*(f"text {i}" for i in range(30)))
    with pytest.raises(ValueError, match="contains 30 labels in 30 rows"):
        check_label_column("train.csv", "label", texts)


@pytest.mark.parametrize("name", ["label", ["label"]])
def test_a_column_that_begins_with_its_name_is_an_error(name):
    rows = examples(name, *"xyxyxyxyxy")
    with pytest.raises(ValueError, match="line 1 contains the label 'label'"):
        check_label_column("train.csv", "2", rows)


def test_a_column_of_labels_is_not_an_error():
    check_label_column("train.csv", "label", examples(*"xyxyxyxyxy"))


def test_rare_labels_are_those_of_few_rows_to_train_on(caplog):
    warn_of_labels(examples(*"yyyyyxn"), examples("m"))
    # A label that only the dev set has is not one of few rows to train on.
    (warning,) = logged_warnings(caplog)
    assert warning.endswith(": x, n")


def test_a_label_that_differs_in_one_letter_may_be_misspelled(caplog):
    warn_of_labels(examples(*["sports"] * 20), examples("sprots", "sport"))
    (warning,) = logged_warnings(caplog)
    assert "'sport' (1)" in warning


def test_a_label_of_other_labels_shows_another_separator(caplog):
    labels = ["a", "a;b", "b"]
    warn_of_joined_labels("train.csv", labels, separator=";")
    assert not logged_warnings(caplog)
    warn_of_joined_labels("train.csv", labels, separator=",")
    (warning,) = logged_warnings(caplog)
    assert "'a;b'" in warning


def test_labels_are_counted_in_the_order_of_the_task(caplog):
    caplog.set_level("INFO")
    log_label_counts(["b", "a", "c"], examples(*"aab"))
    assert "b 1, a 2, c 0" in caplog.text
