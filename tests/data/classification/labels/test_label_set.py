"""The labels of a task, from --labels or from rows, and their warnings.

data/classification/labels/label_notations.py reads them from cells of rows.
"""

import pytest

from data.classification.classification_examples import InputExample
from data.classification.classification_options import TableOptions
from data.classification.labels.label_set import LabelSet, compute_class_weights


def label_set(mode="classification", columns=("label",), **kwargs):
    return LabelSet(TableOptions(**kwargs), mode, columns)


def examples(*labels):
    return [InputExample("row", "text", label=label) for label in labels]


def test_rows_name_the_labels(caplog):
    labels = label_set()
    assert labels.named_by_flags is None
    train, dev = examples(*"yyyyyxn"), examples("m")
    assert labels.find_labels("train.csv", [*train, *dev]) == [*"mnxy"]
    labels.warn_of_labels("train.csv", train, dev)
    # A label that only the dev set has is not one of few rows to train on.
    assert "2 labels have fewer than 5 rows to train on: x, n" in caplog.text


def test_a_train_set_of_one_label_is_an_error():
    with pytest.raises(ValueError, match=r"train.csv must name 2 .*'x'"):
        label_set().find_labels("train.csv", examples("x", "x"))


def test_a_flag_that_names_one_label_is_an_error():
    with pytest.raises(ValueError, match="--labels must name 2"):
        label_set(labels=["x"])


def test_one_label_may_be_on_or_off():
    one = label_set("multilabel")
    assert one.find_labels("train.csv", examples(["x"], [])) == ["x"]


@pytest.mark.parametrize(
    ("mode", "known", "labels", "unknown"),
    [
        ("classification", "x", "x", "z"),
        ("multilabel", "y,x", ["y", "x"], "x,z"),
    ],
)
def test_an_unknown_label_is_an_error(mode, known, labels, unknown):
    where = "dev.csv, line 2"
    reader = label_set(mode)
    assert reader.label_of_cells([known], where, ["x", "y"]) == labels
    # Every label is known before the train set has been read.
    assert reader.label_of_cells([unknown], where) is not None
    with pytest.raises(ValueError, match="line 2: unknown label 'z'"):
        reader.label_of_cells([unknown], where, ["x", "y"])


COLUMNS = ["toxic", "insult"]


@pytest.fixture
def of_columns():
    """The labels of a task with a column of each label."""
    return label_set("multilabel", COLUMNS, label_column="toxic,insult")


def test_several_columns_are_the_labels(of_columns):
    assert of_columns.named_by_flags == COLUMNS


@pytest.mark.parametrize(
    ("cells", "expected"), [(["0", "true"], ["insult"]), (["0", ""], None)]
)
def test_the_columns_of_a_row_tell_its_labels(of_columns, cells, expected):
    assert of_columns.label_of_cells(cells, "line 2", COLUMNS) == expected


def test_a_cell_of_a_label_is_0_or_1(of_columns):
    with pytest.raises(ValueError, match="line 2: each of these columns"):
        of_columns.label_of_cells(["0", "2"], "line 2", COLUMNS)


def test_a_column_of_texts_is_an_error():
    texts = examples(*(f"text {i}" for i in range(30)))
    with pytest.raises(ValueError, match="contains 30 labels in 30 rows"):
        label_set().check_column("train.csv", texts)


def test_a_regression_may_have_any_values():
    texts = examples(*(f"text {i}" for i in range(30)))
    label_set("regression").check_column("train.csv", texts)


def test_balanced_weights_let_all_classes_count_the_same():
    rows = examples(*"aaaaaabbb")
    weights = compute_class_weights(["a", "b", "c"], rows)
    # A class that no example has gets a finite weight too.
    assert weights == {"a": 9 / (3 * 6), "b": 9 / (3 * 3), "c": 3.0}
