"""The flags that tell how to read a table."""

import dataclasses

import pytest

from command_line import flags
from command_line.declared_flags import flags_of
from data.classification.user_tables.column_options import ColumnOptions


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(flags.Config):
    """The flags of a script that reads tables."""

    table: ColumnOptions = flags.group(ColumnOptions)


FLAG_OF_NAME = {flag.name: flag for flag in flags_of(Config)}


@pytest.mark.parametrize(
    ("value", "is_valid"), [("multilabel", True), ("ranking", False)]
)
def test_the_kind_of_labels_is_one_of_three(value, is_valid):
    assert FLAG_OF_NAME["output_mode"].is_valid(value) == is_valid


def test_the_columns_of_a_table_are_text_and_label_by_default():
    options = ColumnOptions()
    assert (options.text_column, options.label_column) == ("text", "label")
    assert options.text_b_column is None
