"""What a row of a table tells of an example, or lacks to be one."""

import pytest

from data.classification.user_tables.row_parsing import RowParser
from data.tables.tables import TableRow


def parse_row(
    row,
    *,
    labels=None,
    may_lack=False,
    mode="classification",
    label_columns=("label",),
):
    """Parses a row of a train set, or of a test set that may lack cells."""
    parser = RowParser(
        text_columns=["text"],
        label_columns=label_columns,
        label_flag="label",
        label_separator=",",
        output_mode=mode,
        allowed_labels=labels,
        needs_text=not may_lack,
        needs_label=not may_lack,
    )
    return parser.parse(TableRow(2, 2, "train.csv, line 2", row))


def test_a_row_has_texts_and_a_label():
    parsed = parse_row({"text": "a", "label": "x"})
    assert (parsed.texts, parsed.label, parsed.lacks) == (["a"], "x", None)
    assert not parsed.is_respelled


@pytest.mark.parametrize(
    ("row", "lacks"),
    [
        ({"text": " ", "label": "x"}, "text"),
        ({"text": "a", "label": ""}, "a label"),
        ({"text": "a"}, "a label"),
    ],
)
def test_a_row_may_lack_cells_only_in_a_test_set(row, lacks):
    assert parse_row(row).lacks == lacks
    assert parse_row(row, may_lack=True).lacks is None


def test_the_label_of_a_row_without_a_text_is_not_read():
    row = {"text": "", "label": "z"}
    assert parse_row(row, labels=["x", "y"]).lacks == "text"


def test_an_error_names_the_row_and_the_column():
    with pytest.raises(ValueError, match=r"line 2, column 'label': unknown"):
        parse_row({"text": "a", "label": "z"}, labels=["x", "y"])


def test_an_empty_cell_is_an_empty_list_of_labels_but_null_is_none():
    empty = parse_row({"text": "a", "label": ""}, mode="multilabel")
    assert empty.label == []
    null = parse_row({"text": "a", "label": None}, mode="multilabel")
    assert null.label is None


@pytest.mark.parametrize(
    ("cell", "label", "is_respelled"),
    [("boats", "boats", False), (" boats ", "boats", True), (1, "1", False)],
)
def test_blanks_around_a_label_are_another_spelling(cell, label, is_respelled):
    parsed = parse_row({"text": "a", "label": cell})
    assert (parsed.label, parsed.is_respelled) == (label, is_respelled)


def parse_cells(cells, labels=None, mode="classification"):
    """Returns the label in the cells of a row."""
    columns = [f"column {index}" for index in range(len(cells))]
    row = {"text": "a", **dict(zip(columns, cells, strict=True))}
    parsed = parse_row(
        row, labels=labels, may_lack=True, mode=mode, label_columns=columns
    )
    return parsed.label


@pytest.mark.parametrize(
    ("mode", "known", "labels", "unknown"),
    [
        ("classification", "x", "x", "z"),
        ("multilabel", "y,x", ["y", "x"], "x,z"),
    ],
)
def test_an_unknown_label_is_an_error(mode, known, labels, unknown):
    assert parse_cells([known], ["x", "y"], mode) == labels
    # Every label is known before the train set has been read.
    assert parse_cells([unknown], None, mode) is not None
    with pytest.raises(ValueError, match="unknown label 'z'"):
        parse_cells([unknown], ["x", "y"], mode)


@pytest.mark.parametrize(
    ("mode", "label"),
    [("classification", None), ("multilabel", []), ("regression", None)],
)
def test_an_empty_cell_is_an_empty_list_or_no_label(mode, label):
    assert parse_cells([""], None, mode) == label


def test_the_cell_of_a_regression_is_a_number():
    assert parse_cells(["2.5"], None, "regression") == 2.5


COLUMNS = ["toxic", "insult"]


@pytest.mark.parametrize(
    ("cells", "expected"), [(["0", "true"], ["insult"]), (["0", ""], None)]
)
def test_the_columns_of_a_row_tell_its_labels(cells, expected):
    assert parse_cells(cells, COLUMNS, "multilabel") == expected


def test_a_cell_of_a_label_is_0_or_1():
    with pytest.raises(ValueError, match="each of these columns"):
        parse_cells(["0", "2"], COLUMNS, "multilabel")
