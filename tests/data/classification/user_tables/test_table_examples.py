"""Rows of a table that become examples, and rows that are left out."""

import pytest

from data.classification.classification_examples import InputExample
from data.classification.user_tables.table_examples import RowParser
from data.sets.example_reader import SetFile
from data.tables.tables import TableRow


def parse_rows(
    *rows,
    set_name="train",
    labels=(),
    output_mode="classification",
    label_columns=("label",),
):
    """Parses rows, {column: cell} each, of lines 2, 3 and so on of a table."""
    parser = RowParser(
        file=SetFile(f"{set_name}.csv", set_name, "data", labels),
        text_columns=["text"],
        label_columns=label_columns,
        label_flag="label",
        label_separator=",",
        output_mode=output_mode,
        needs_label=set_name != "test",
    )
    return parser.parse_rows(
        TableRow(line, line, f"{set_name}.csv, line {line}", cells)
        for line, cells in enumerate(rows, 2)
    )


def test_a_row_has_a_text_and_a_label():
    parsed = parse_rows({"text": "a", "label": "x"})
    assert parsed.examples == [InputExample("train-1", "a", label="x")]


@pytest.mark.parametrize(
    ("row", "lack"),
    [
        ({"text": " ", "label": "x"}, "text"),
        ({"text": "a", "label": ""}, "a label"),
        ({"text": "a"}, "a label"),
    ],
)
def test_a_row_may_lack_cells_only_in_a_test_set(row, lack):
    parsed = parse_rows(row)
    assert not parsed.examples
    assert parsed.num_left_out == {lack: 1}
    assert len(parse_rows(row, set_name="test").examples) == 1


def test_the_log_counts_the_rows_that_are_left_out(caplog):
    parse_rows({"text": ""}, {"text": "a"}).log_counts("train.csv")
    assert "train.csv: 1 rows without text" in caplog.text
    assert "1 rows without a label" in caplog.text


def test_rows_that_are_left_out_have_no_number():
    parsed = parse_rows(
        {"text": "", "label": "x"},
        {"text": "a", "label": "x"},
        {"text": "", "label": "x"},
        {"text": "b", "label": "x"},
    )
    assert [(example.guid, example.text_a) for example in parsed.examples] == [
        ("train-1", "a"),
        ("train-2", "b"),
    ]


def test_the_label_of_a_row_without_a_text_is_not_read():
    parsed = parse_rows({"text": "", "label": "z"}, labels=["x", "y"])
    assert not parsed.examples


def test_an_error_names_the_row_and_the_column():
    with pytest.raises(ValueError, match=r"line 3, column 'label': unknown"):
        parse_rows(
            {"text": "a", "label": "x"},
            {"text": "b", "label": "z"},
            labels=["x", "y"],
        )


def test_an_empty_cell_is_an_empty_list_of_labels_but_null_is_none():
    parsed = parse_rows(
        {"text": "a", "label": ""},
        {"text": "b", "label": None},
        set_name="test",
        output_mode="multilabel",
    )
    assert [example.label for example in parsed.examples] == [[], None]


@pytest.mark.parametrize("output_mode", ["classification", "regression"])
def test_an_empty_cell_of_one_label_is_no_label(output_mode):
    (example,) = parse_rows(
        {"text": "a", "label": ""}, set_name="test", output_mode=output_mode
    ).examples
    assert example.label is None


@pytest.mark.parametrize(
    ("cell", "label", "num_respelled"),
    [("boats", "boats", 0), (" boats ", "boats", 1), (1, "1", 0)],
)
def test_blanks_around_a_label_are_another_spelling(cell, label, num_respelled):
    parsed = parse_rows({"text": "a", "label": cell})
    (example,) = parsed.examples
    assert example.label == label
    assert parsed.num_respelled_labels == num_respelled


@pytest.mark.parametrize(
    ("output_mode", "cell", "label"),
    [("classification", "x", "x"), ("multilabel", "y,x", ["y", "x"])],
)
def test_a_known_label_is_the_label(output_mode, cell, label):
    (example,) = parse_rows(
        {"text": "a", "label": cell},
        labels=["x", "y"],
        output_mode=output_mode,
    ).examples
    assert example.label == label


@pytest.mark.parametrize(
    ("output_mode", "cell"), [("classification", "z"), ("multilabel", "x,z")]
)
def test_an_unknown_label_is_an_error_once_the_labels_are_known(
    output_mode, cell
):
    row = {"text": "a", "label": cell}
    assert parse_rows(row, output_mode=output_mode).examples
    with pytest.raises(ValueError, match="unknown label 'z'"):
        parse_rows(row, labels=["x", "y"], output_mode=output_mode)


def test_the_cell_of_a_regression_is_a_number():
    (example,) = parse_rows(
        {"text": "a", "label": "2.5"}, output_mode="regression"
    ).examples
    assert example.label == 2.5


@pytest.mark.parametrize(
    ("toxic", "insult", "label"),
    [("0", "true", ["insult"]), ("1", "1", ["toxic", "insult"])],
)
def test_each_label_may_have_a_column_of_0_and_1(toxic, insult, label):
    (example,) = parse_rows(
        {"text": "a", "toxic": toxic, "insult": insult},
        labels=["toxic", "insult"],
        output_mode="multilabel",
        label_columns=["toxic", "insult"],
    ).examples
    assert example.label == label


def test_a_row_with_an_empty_column_of_a_label_has_no_labels():
    (example,) = parse_rows(
        {"text": "a", "toxic": "0", "insult": ""},
        set_name="test",
        labels=["toxic", "insult"],
        output_mode="multilabel",
        label_columns=["toxic", "insult"],
    ).examples
    assert example.label is None


def test_a_column_of_a_label_contains_nothing_but_0_and_1():
    with pytest.raises(ValueError, match="each of these columns"):
        parse_rows(
            {"text": "a", "toxic": "0", "insult": "2"},
            labels=["toxic", "insult"],
            output_mode="multilabel",
            label_columns=["toxic", "insult"],
        )
