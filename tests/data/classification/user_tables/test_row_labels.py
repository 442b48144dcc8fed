"""The label of a row, from the cells of one or several columns."""

import pytest

from data.classification.user_tables.row_labels import parse_row_label


def parse(cells, names=None, mode="classification"):
    return parse_row_label(
        cells, "dev.csv, line 2", output_mode=mode, separator=",", names=names
    )


@pytest.mark.parametrize(
    ("mode", "known", "labels", "unknown"),
    [
        ("classification", "x", "x", "z"),
        ("multilabel", "y,x", ["y", "x"], "x,z"),
    ],
)
def test_an_unknown_label_is_an_error(mode, known, labels, unknown):
    assert parse([known], ["x", "y"], mode) == labels
    # Every label is known before the train set has been read.
    assert parse([unknown], None, mode) is not None
    with pytest.raises(ValueError, match="line 2: unknown label 'z'"):
        parse([unknown], ["x", "y"], mode)


@pytest.mark.parametrize(
    ("mode", "label"),
    [("classification", None), ("multilabel", []), ("regression", None)],
)
def test_an_empty_cell_is_an_empty_list_or_no_label(mode, label):
    assert parse([""], None, mode) == label


def test_the_cell_of_a_regression_is_a_number():
    assert parse(["2.5"], None, "regression") == 2.5


COLUMNS = ["toxic", "insult"]


@pytest.mark.parametrize(
    ("cells", "expected"), [(["0", "true"], ["insult"]), (["0", ""], None)]
)
def test_the_columns_of_a_row_tell_its_labels(cells, expected):
    assert parse(cells, COLUMNS, "multilabel") == expected


def test_a_cell_of_a_label_is_0_or_1():
    with pytest.raises(ValueError, match="line 2: each of these columns"):
        parse(["0", "2"], COLUMNS, "multilabel")
