"""Rows of a table that become examples, and rows that are left out."""

import pytest

from data.classification.classification_examples import InputExample
from data.classification.user_tables.table_examples import RowParser
from data.sets.example_reader import SetFile
from data.tables.tables import TableRow


def create_parser(
    *,
    labels=(),
    may_lack=False,
    mode="classification",
    label_columns=("label",),
):
    """Creates the parser of a train set, or of a test set with empty cells."""
    set_name = "test" if may_lack else "train"
    return RowParser(
        file=SetFile(f"{set_name}.csv", set_name, "data", labels),
        text_columns=["text"],
        label_columns=label_columns,
        label_flag="label",
        label_separator=",",
        output_mode=mode,
        needs_label=not may_lack,
    )


def parse_row(row, **options):
    """Returns the example of a row that lacks nothing."""
    parsed = create_parser(**options).parse_rows([place_row(row)])
    (example,) = parsed.examples
    return example


def place_row(row):
    """Returns a row of a table with these cells."""
    return TableRow(2, 2, "train.csv, line 2", row)


def test_a_row_has_texts_and_a_label():
    row = {"text": "a", "label": "x"}
    assert parse_row(row) == InputExample("train-1", "a", label="x")


@pytest.mark.parametrize(
    ("row", "lack"),
    [
        ({"text": " ", "label": "x"}, "text"),
        ({"text": "a", "label": ""}, "a label"),
        ({"text": "a"}, "a label"),
    ],
)
def test_a_row_may_lack_cells_only_in_a_test_set(row, lack, caplog):
    parsed = create_parser().parse_rows([place_row(row)])
    assert not parsed.examples
    parsed.log_counts("train.csv")
    assert f"train.csv: 1 rows without {lack} left out" in caplog.text
    assert parse_row(row, may_lack=True)


def test_rows_that_are_left_out_have_no_number():
    rows = [{"text": text, "label": "x"} for text in ("", "a", "", "b")]
    parsed = create_parser().parse_rows(map(place_row, rows))
    assert [example.guid for example in parsed.examples] == [
        "train-1",
        "train-2",
    ]


def test_the_label_of_a_row_without_a_text_is_not_read():
    parser = create_parser(labels=["x", "y"])
    parsed = parser.parse_rows([place_row({"text": "", "label": "z"})])
    assert not parsed.examples


def test_an_error_names_the_row_and_the_column():
    with pytest.raises(ValueError, match=r"line 2, column 'label': unknown"):
        parse_row({"text": "a", "label": "z"}, labels=["x", "y"])


def test_an_empty_cell_is_an_empty_list_of_labels_but_null_is_none():
    empty = parse_row({"text": "a", "label": ""}, mode="multilabel")
    assert empty.label == []
    row = {"text": "a", "label": None}
    assert parse_row(row, mode="multilabel", may_lack=True).label is None


@pytest.mark.parametrize(
    ("cell", "label", "num_respelled"),
    [("boats", "boats", 0), (" boats ", "boats", 1), (1, "1", 0)],
)
def test_blanks_around_a_label_are_another_spelling(cell, label, num_respelled):
    row = place_row({"text": "a", "label": cell})
    parsed = create_parser().parse_rows([row])
    (example,) = parsed.examples
    assert (example.label, parsed.num_respelled_labels) == (
        label,
        num_respelled,
    )


def parse_cells(cells, labels=(), mode="classification"):
    """Returns the label in the cells of a row."""
    columns = [f"column {index}" for index in range(len(cells))]
    row = {"text": "a", **dict(zip(columns, cells, strict=True))}
    example = parse_row(
        row, labels=labels, may_lack=True, mode=mode, label_columns=columns
    )
    return example.label


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
    assert parse_cells([unknown], (), mode) is not None
    with pytest.raises(ValueError, match="unknown label 'z'"):
        parse_cells([unknown], ["x", "y"], mode)


@pytest.mark.parametrize(
    ("mode", "label"),
    [("classification", None), ("multilabel", []), ("regression", None)],
)
def test_an_empty_cell_is_an_empty_list_or_no_label(mode, label):
    assert parse_cells([""], (), mode) == label


def test_the_cell_of_a_regression_is_a_number():
    assert parse_cells(["2.5"], (), "regression") == 2.5


COLUMNS = ["toxic", "insult"]


@pytest.mark.parametrize(
    ("cells", "expected"), [(["0", "true"], ["insult"]), (["0", ""], None)]
)
def test_the_columns_of_a_row_tell_its_labels(cells, expected):
    assert parse_cells(cells, COLUMNS, "multilabel") == expected


def test_a_cell_of_a_label_is_0_or_1():
    with pytest.raises(ValueError, match="each of these columns"):
        parse_cells(["0", "2"], COLUMNS, "multilabel")
