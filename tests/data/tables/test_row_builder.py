"""Cells become a row, or an error that says what is wrong with them.

test_table_formats.py reads such rows from files.
"""

import pytest

from data.tables.row_builder import RowBuilder
from data.tables.unnamed_columns import RepeatedName


def test_cells_get_the_names_of_their_columns():
    row = RowBuilder(["text", "label"]).build(["A tug", "sea"])
    assert row == {"text": "A tug", "label": "sea"}


def test_a_repeated_name_keeps_both_cells():
    row = RowBuilder(["text", "text"]).build(["A tug", "A barge"])
    assert row == {"text": "A tug", "text.1": "A barge"}
    assert isinstance([*row][1], RepeatedName)


def test_cells_without_names_are_numbered_from_1():
    row = RowBuilder([], width=2).build(["A tug", "sea"])
    assert row == {"1": "A tug", "2": "sea"}


def test_more_cells_than_names_are_an_error():
    error = RowBuilder(["text", "label"]).build(["A tug", " a barge", "sea"])
    assert "has 3 columns, but the first line has 2" in str(error)


def test_names_that_are_repeated_below_the_header_are_an_error():
    error = RowBuilder(["text", "label"]).build(["text", "label"])
    assert "repeats the names of the columns" in str(error)


def test_a_cell_of_several_lines_of_the_table_is_an_error():
    row_builder = RowBuilder(["text", "label"])
    error = row_builder.build(["A tug\nA barge", "sea"], is_swallowed=True)
    assert "contains the next lines of the table" in str(error)


def test_the_first_three_rows_decide_the_width():
    row_builder = RowBuilder([])
    for _ in range(3):
        row_builder.build(["A tug", "sea"])
    error = row_builder.build(["A tug", " a barge", "sea"])
    assert "has 3 columns, but other lines have 2" in str(error)


@pytest.mark.parametrize("may_be_wider", [True, False])
def test_only_a_table_of_tabs_may_have_wider_rows(may_be_wider):
    row_builder = RowBuilder([], width=2, may_be_wider=may_be_wider)
    row = row_builder.build(["A tug", "sea", "news"])
    assert isinstance(row, dict) == may_be_wider


def test_a_backslash_before_a_line_break_is_an_error():
    error = RowBuilder([], width=3).build(["1", "It left\\"])
    assert "ends in a backslash" in str(error)
