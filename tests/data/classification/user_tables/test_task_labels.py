"""The labels of a task, from --labels, from columns or from rows."""

import pytest

from data.classification.classification_examples import InputExample
from data.classification.user_tables.task_labels import (
    count_labels,
    labels_of_examples,
    labels_of_flags,
)


def examples(*labels):
    return [InputExample("row", "text", label=label) for label in labels]


def test_rows_name_the_labels_in_alphabetical_order():
    labels = labels_of_examples(
        examples(*"yyxnm"), "classification", "train.csv"
    )
    assert labels == [*"mnxy"]


def test_a_train_set_of_one_label_is_an_error():
    with pytest.raises(ValueError, match=r"train.csv must name 2 .*'x'"):
        labels_of_examples(examples("x", "x"), "classification", "train.csv")


def test_one_label_may_be_on_or_off():
    rows = examples(["x"], [])
    assert labels_of_examples(rows, "multilabel", "train.csv") == ["x"]


def test_an_unknown_label_does_not_count():
    assert count_labels(examples("x", None, ["x", "y"])) == {"x": 2, "y": 1}


def test_no_flag_names_the_labels():
    assert labels_of_flags(None, "classification", ["label"]) is None


def test_a_flag_that_names_one_label_is_an_error():
    with pytest.raises(ValueError, match="--labels must name 2"):
        labels_of_flags(["x"], "classification", ["label"])


@pytest.mark.parametrize(
    ("labels", "expected"),
    [(None, ["toxic", "insult"]), (["t", "i"], ["t", "i"])],
)
def test_several_columns_are_the_labels_unless_a_flag_names_them(
    labels, expected
):
    columns = ["toxic", "insult"]
    assert labels_of_flags(labels, "multilabel", columns) == expected
