"""Columns of texts and labels: the flags, and the guesses without a flag."""

import dataclasses

import pytest

from data.classification.user_tables.table_columns import (
    ColumnOptions,
    PairColumns,
    guess_unset_columns,
)
from data.tables.tables import Table
from options import fields
from options.config import Config


@dataclasses.dataclass(frozen=True, kw_only=True)
class TableConfig(Config):
    """The flags of a script that reads tables."""

    columns: ColumnOptions = fields.group(ColumnOptions)


@pytest.mark.parametrize(
    ("value", "is_valid"), [("multilabel", True), ("ranking", False)]
)
def test_the_kind_of_labels_is_one_of_three(value, is_valid):
    (flag,) = (
        flag
        for flag in TableConfig.list_options()
        if flag.name == "output_mode"
    )
    assert flag.is_valid(value) == is_valid


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
        chosen, PairColumns("query", "passage", "relevance")
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


def test_the_columns_of_all_flags_are_logged_if_any_was_found(tmp_path, caplog):
    caplog.set_level("INFO", logger="absl")
    path, columns = tmp_path / "a.csv", ["body", "kind"]
    given = {"text_column": "body"}
    all_given = {**given, "label_column": "kind"}
    guess_unset_columns(all_given, path, columns)
    assert not caplog.messages
    guess_unset_columns(given, path, columns)
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
def test_a_second_column_of_texts_is_asked_for(columns):
    with pytest.raises(
        ValueError, match=r"--data_file=a\.csv.*--text_b_column"
    ) as error:
        guess_unset_columns({}, "a.csv", columns)
    assert "only --text_column" in str(error.value)


@PAIRS
def test_a_column_that_a_flag_names_is_the_only_text(columns):
    others = [
        column
        for column in columns
        if column.casefold() not in ("label", "class")
    ]
    given = {"text_column": others[-1], "label_column": columns[0]}
    assert guess_unset_columns(given, "a.csv", columns) == {}


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
def test_one_column_of_texts_is_found(columns):
    guessed = guess_unset_columns({}, "a.csv", columns)
    assert guessed["label_column"] == "label"


# A table of three columns, of which two have commas in their names.
COMMAS = 'text,"Category, main","x, y, z"\n' + "a,0,1\nb,1,1\n" * 20


def test_the_text_beside_a_label_with_commas_is_found(tmp_path):
    (tmp_path / "train.csv").write_text(COMMAS)
    given = {"label_column": "Category, main"}
    layout = ColumnOptions(**given).layout_for_columns()
    columns = Table(tmp_path / "train.csv", layout).read_column_names()
    guessed = guess_unset_columns(given, "train.csv", columns)
    assert guessed == {"text_column": "text"}


def test_a_text_with_commas_in_its_name_is_found_by_its_flag(tmp_path):
    (tmp_path / "train.csv").write_text(COMMAS)
    given = {"text_column": "x, y, z", "label_column": "text"}
    columns = Table(tmp_path / "train.csv").read_column_names()
    assert not guess_unset_columns(given, "train.csv", columns)


REPEATED = "Name,Labels,Labels,comment,comment,Kind\na,b,c,d,e,f\n"


def test_columns_that_are_not_read_may_repeat(tmp_path):
    (tmp_path / "a.csv").write_text(REPEATED)
    columns = Table(tmp_path / "a.csv").read_column_names()
    given = {"text_column": "Name", "label_column": "Kind"}
    assert guess_unset_columns(given, "a.csv", columns) == {}


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
    (tmp_path / "a.csv").write_text(REPEATED)
    columns = Table(tmp_path / "a.csv").read_column_names()
    with pytest.raises(ValueError, match=f"are named '{repeated}'"):
        guess_unset_columns(given, "a.csv", columns)
