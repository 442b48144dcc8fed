"""A cell shows by its characters what it contains."""

import pytest

from data.tables.rows import (
    are_dates,
    are_numbers,
    is_date,
    is_missing,
    is_number,
    is_year,
)


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
