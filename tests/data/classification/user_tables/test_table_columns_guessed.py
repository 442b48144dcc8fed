"""The columns of a table of texts and labels, by flags and by names."""

import json

import pytest

from data.classification.user_tables import table_columns
from data.classification.user_tables.table_columns import ColumnOptions
from data.tables.tables import Table


def find_unset(given, table):
    """Finds the columns of a table that the flags `given` do not name."""
    return table_columns.guess_unset_columns(
        given, table.path, table.read_column_names()
    )


def find_columns_with_flags(path, columns, **given):
    """Writes a table of the columns, and returns the columns to use."""
    row = dict.fromkeys(columns, "x")
    path.write_text(json.dumps(row))
    options = ColumnOptions(**given)
    table = Table(path, options.layout_for_columns())
    return find_unset(given, table)


def test_the_columns_of_all_flags_are_logged_if_any_was_found(tmp_path, caplog):
    caplog.set_level("INFO", logger="absl")
    path, columns = tmp_path / "a.csv", ["body", "kind"]
    given = {"text_column": "body"}
    all_given = {**given, "label_column": "kind"}
    table_columns.guess_unset_columns(all_given, path, columns)
    assert not caplog.messages
    table_columns.guess_unset_columns(given, path, columns)
    (message,) = caplog.messages
    assert message.endswith("a.csv: --text_column=body --label_column=kind")


PAIRS = pytest.mark.parametrize(
    "columns",
    [
        ["idx", "question", "passage", "label"],
        ["index", "question", "sentence", "label"],
        ["premise", "hypothesis", "label"],
        ["id", "sentence1", "sentence2", "label"],
        ["Text_A", "Text_B", "label"],
        ["text", "text_b", "label"],
        ["question 1", "question 2", "is_duplicate"],
        ["Subject", "Body", "label"],
        ["label", "title", "text"],
        ["Class", "Title", "Description"],
        ["text", "text_pair", "label"],
        ["title", "selftext", "label"],
    ],
)


@PAIRS
def test_a_second_column_of_texts_is_asked_for(tmp_path, columns):
    path = tmp_path / "a.jsonl"
    with pytest.raises(ValueError, match="--text_b_column") as error:
        find_columns_with_flags(path, columns)
    assert f"--data_file={path}" in str(error.value)
    assert "only --text_column" in str(error.value)


@PAIRS
def test_a_column_that_a_flag_names_is_the_only_text(tmp_path, columns):
    others = [
        column
        for column in columns
        if column.casefold() not in ("label", "class")
    ]
    given = {"text_column": others[-1], "label_column": columns[0]}
    assert find_columns_with_flags(tmp_path / "a.jsonl", columns, **given) == {}


@pytest.mark.parametrize(
    "columns",
    [
        ["id", "date", "url", "text", "label"],
        ["text", "label", "comment"],
        ["title", "label", "id"],
        ["text", "answer", "label", "_view_id"],
        ["sentence", "label", "idx"],
    ],
)
def test_one_column_of_texts_is_found(tmp_path, columns):
    actual = find_columns_with_flags(tmp_path / "a.jsonl", columns)
    assert actual["label_column"] == "label"


@pytest.fixture
def commas_file(tmp_path):
    """A train set whose names of columns contain commas."""
    rows = "".join(f't{i},"{i % 2}",1\n' for i in range(40))
    path = tmp_path / "train.csv"
    path.write_text(f'text,"Category, main","x, y, z"\n{rows}')
    return path


def test_the_text_beside_a_label_with_commas_is_found(commas_file):
    given = {"label_column": "Category, main"}
    layout = ColumnOptions(**given).layout_for_columns()
    actual = find_unset(given, Table(commas_file, layout))
    assert actual == {"text_column": "text"}


def test_a_text_with_commas_in_its_name_is_found_by_its_flag(commas_file):
    flags = {"text_column": "x, y, z", "label_column": "text"}
    assert not find_unset(flags, Table(commas_file))


def find_among_repeated_columns(folder, **given):
    """Finds the unset columns of a table with two columns named twice."""
    path = folder / "a.csv"
    path.write_text("Name,Labels,Labels,comment,comment,Kind\na,b,c,d,e,f\n")
    return find_unset(given, Table(path))


def test_columns_that_are_not_read_may_repeat(tmp_path):
    given = {"text_column": "Name", "label_column": "Kind"}
    assert find_among_repeated_columns(tmp_path, **given) == {}


@pytest.mark.parametrize(
    ("given", "repeated"),
    [
        ({"text_column": "Name", "label_column": "Labels"}, "Labels"),
        ({"text_column": "comment", "label_column": "Kind"}, "comment"),
        # A guess is no better than a flag.
        ({"label_column": "Kind"}, "comment"),
    ],
)
def test_columns_that_are_read_may_not_repeat(tmp_path, given, repeated):
    with pytest.raises(ValueError, match=f"are named '{repeated}'"):
        find_among_repeated_columns(tmp_path, **given)
