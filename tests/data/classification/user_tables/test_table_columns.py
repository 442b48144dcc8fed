"""The flags of a table of texts and labels, and what they say."""

import dataclasses
import json

import pytest

from data.classification.user_tables import table_columns
from data.classification.user_tables.table_columns import ColumnOptions
from data.tables.tables import Table
from options import fields
from options.config import Config


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(Config):
    """The flags of a script that reads tables."""

    columns: ColumnOptions = fields.group(ColumnOptions)


FLAG_OF_NAME = {flag.name: flag for flag in Config.list_options()}


@pytest.mark.parametrize(
    ("value", "is_valid"), [("multilabel", True), ("ranking", False)]
)
def test_the_kind_of_labels_is_one_of_three(value, is_valid):
    assert FLAG_OF_NAME["output_mode"].is_valid(value) == is_valid


def test_the_columns_of_a_table_are_text_and_label_by_default():
    options = ColumnOptions()
    assert (options.text_column, options.label_column) == ("text", "label")
    assert options.text_b_column is None


def test_the_columns_of_a_pair_are_those_of_its_texts():
    options = ColumnOptions(text_column="q", text_b_column="p")
    assert options.text_columns() == ["q", "p"]


@pytest.mark.parametrize(
    ("columns", "has_header"),
    [
        ({"text_column": "1", "label_column": "2,3"}, False),
        ({"text_column": "1", "label_column": "kind"}, None),
        ({}, None),
    ],
)
def test_a_table_whose_columns_are_numbers_has_no_header(columns, has_header):
    layout = ColumnOptions(**columns).layout_for_columns()
    assert layout.has_header is has_header


def test_usual_columns_of_pairs_do_not_replace_those_of_the_user():
    chosen = {"text_column": "q"}
    options = ColumnOptions(**chosen).with_pair_columns(
        chosen, ("query", "passage", "relevance")
    )
    assert options.text_columns() == ["q", "passage"]
    assert options.label_column == "relevance"
    assert options.output_mode == "regression"


@pytest.mark.parametrize(
    "flags", [{"text_column": "label"}, {"text_b_column": "label"}]
)
def test_no_column_is_both_text_and_label(flags):
    with pytest.raises(ValueError, match="--label_column=label"):
        ColumnOptions(**flags).text_columns()


def test_a_text_may_be_its_own_pair_as_in_simcse():
    options = ColumnOptions(text_b_column="text")
    assert options.text_columns() == ["text", "text"]


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
