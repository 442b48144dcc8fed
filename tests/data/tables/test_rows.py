"""Cells become a row, or an error that says what is wrong with them.

test_tables.py reads such rows from files.
"""

import pytest

from data.tables.rows import (
    NumberedRow,
    RepeatedName,
    RowBuilder,
    are_dates,
    are_numbers,
    compute_common_width,
    is_date,
    is_empty_row,
    is_missing,
    is_number,
    is_year,
    unique_keys,
)


def test_a_row_has_cells():
    row = NumberedRow(2, {"text": "b"})
    assert row.require_cells("a.csv") == {"text": "b"}


def test_a_malformed_row_is_an_error_that_names_its_place():
    row = NumberedRow(3, ValueError("two cells"))
    with pytest.raises(ValueError, match=r"a\.csv, line 3: two cells"):
        row.require_cells("a.csv")


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


def test_unique_keys_numbers_all_but_the_first_column_of_a_name():
    assert unique_keys(["Tag", "text", "Tag"]) == ["Tag", "text", "Tag.1"]


def test_unique_keys_differ_from_the_names_of_all_columns():
    keys = unique_keys(["Tag", "Tag", "Tag.1", "", ""])
    assert keys == ["Tag", "Tag.2", "Tag.1", "", ".1"]


def test_the_key_of_a_repeated_column_has_the_name_in_the_file():
    _, key = unique_keys(["Tag", "Tag"])
    assert isinstance(key, RepeatedName)
    assert key.name == "Tag"


@pytest.mark.parametrize(
    ("widths", "common"),
    [([3, 3, 2, 1], 3), ([3, 2, 1], 0), ([], 0)],
)
def test_the_common_width_is_that_of_half_of_the_rows(widths, common):
    assert compute_common_width(widths) == common


def test_is_empty_row_ignores_blanks_but_not_zeros():
    assert is_empty_row(["", " \t"])
    assert not is_empty_row(["", "0"])


@pytest.mark.parametrize("cell", ["7", " -1.5 ", "1,000.50", "12%", "2e-5"])
def test_a_number_may_have_a_sign_marks_and_an_exponent(cell):
    assert is_number(cell)


@pytest.mark.parametrize("cell", ["", ".", "7 seas", "2026-01-31", "e5"])
def test_is_number_is_false_for_texts_dates_and_empty_cells(cell):
    assert not is_number(cell)


@pytest.mark.parametrize("cell", ["2026-01-31", "31.1.2026", "1/31/26 12:00"])
def test_a_date_may_be_written_in_several_orders(cell):
    assert is_date(cell)


def test_a_date_has_the_same_mark_twice():
    assert not is_date("31.1/2026")


def test_no_cells_are_neither_numbers_nor_dates():
    assert are_numbers(["1", "2"])
    assert are_dates(["2026-01-31"])
    assert not are_numbers([])
    assert not are_dates([])


def test_a_year_is_a_number_of_the_last_or_the_next_centuries():
    assert is_year("2013")
    assert not is_year("1066")


@pytest.mark.parametrize("cell", ["", " ", "-", "N/A", "null"])
def test_a_cell_without_a_value_may_say_so(cell):
    assert is_missing(cell)
