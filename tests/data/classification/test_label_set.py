"""The labels of a task, from --labels or from rows, and their warnings.

data/classification/label_cells.py reads them from the cells of rows.
"""

import pytest

from data.classification.classification_examples import InputExample
from data.classification.classification_options import TableOptions
from data.classification.label_set import LabelSet, balance_classes


def label_set(mode="classification", columns=("label",), **kwargs):
    return LabelSet(TableOptions(**kwargs), mode, columns)


def examples(*labels):
    return [InputExample("row", "text", label=label) for label in labels]


def test_rows_name_the_labels(caplog):
    labels = label_set()
    assert labels.named_by_flags is None
    names = labels.infer("train.csv", examples(*"yyyyyxn"), examples("m"))
    assert names == [*"mnxy"]
    # A label that only the dev set has is not one of few rows to train on.
    assert "2 labels have fewer than 5 rows to train on: x, n" in caplog.text


def test_too_few_labels_are_an_error():
    with pytest.raises(ValueError, match=r"train.csv must name 2 .*'x'"):
        label_set().infer("train.csv", examples("x", "x"))
    with pytest.raises(ValueError, match="--labels must name 2"):
        label_set(labels=["x"])
    one = label_set("multilabel")
    assert one.infer("train.csv", examples(["x"], [])) == ["x"]


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


def test_several_columns_are_the_labels():
    columns = ["toxic", "insult"]
    labels = label_set("multilabel", columns, label_column="toxic,insult")
    assert labels.named_by_flags == columns
    assert labels.label_of_cells(["0", "true"], "line 2", columns) == ["insult"]
    assert labels.label_of_cells(["0", ""], "line 2", columns) is None
    with pytest.raises(ValueError, match="line 2: each of these columns"):
        labels.label_of_cells(["0", "2"], "line 2", columns)


def test_a_column_of_texts_is_an_error():
    texts = examples(*(f"text {i}" for i in range(30)))
    with pytest.raises(ValueError, match="contains 30 labels in 30 rows"):
        label_set().check_column("train.csv", texts)
    label_set("regression").check_column("train.csv", texts)


def test_balanced_weights_let_all_classes_count_the_same():
    rows = examples(*"aaaaaabbb")
    weights = balance_classes(["a", "b", "c"], rows)
    # A class that no example has gets a finite weight too.
    assert weights == {"a": 9 / (3 * 6), "b": 9 / (3 * 3), "c": 3.0}
