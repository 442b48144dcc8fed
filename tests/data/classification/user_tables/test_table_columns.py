"""The flags of a table of texts and labels, and what they say."""

import dataclasses

import pytest

from data.classification.user_tables.table_columns import (
    ColumnOptions,
    PairColumns,
)
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
