"""First cells of columns that are names, or values, or may be either."""

import pytest

from data.tables.header_detection import (
    CellRole,
    ColumnCells,
    FirstRow,
    guess_cell_role,
    is_word_above_texts,
)

TEXT = ColumnCells("It left at noon again.", ["It sank."])


@pytest.mark.parametrize(
    ("first", "below", "role"),
    [
        ("7", ["5", "9"], CellRole.VALUE),
        ("2026-01-31", ["2026-02-01", "2026-02-02"], CellRole.VALUE),
        ("price", ["10", "12"], CellRole.NAME),
        ("born", ["2026-01-31", "2026-02-01"], CellRole.NAME),
        ("folder", ["ham", "ham", "spam", "spam"], CellRole.NAME),
        ("spam", ["ham", "spam"], CellRole.REPEATED),
        ("title", ["A boat", "A car"], CellRole.NAME),
        ("boat", ["car"], CellRole.UNKNOWN),
        ("folder", ["ham", "spam", "spam"], CellRole.UNKNOWN),
        ("n/a", ["10", "12"], CellRole.UNKNOWN),
        ("", ["10", "12"], CellRole.UNKNOWN),
        ("title", ["title", "A car"], CellRole.REPEATED),
    ],
)
def test_a_first_cell_is_a_name_a_value_or_unknown_by_the_first_rule(
    first, below, role
):
    column = ColumnCells(first, below)
    row = FirstRow([column], ())
    assert guess_cell_role(column, row) == role


@pytest.mark.parametrize(
    ("first", "below", "role"),
    [
        ("price", ["10", "12"], CellRole.UNKNOWN),
        ("folder", ["ham", "ham", "spam", "spam"], CellRole.UNKNOWN),
        ("title", ["A boat", "A car"], CellRole.NAME),
        ("spam", ["ham", "spam"], CellRole.REPEATED),
    ],
)
def test_a_cell_beside_a_long_text_is_a_name_only_if_the_name_is_usual(
    first, below, role
):
    column = ColumnCells(first, below)
    row = FirstRow([column, TEXT], ())
    assert guess_cell_role(column, row) == role


def test_a_column_that_a_flag_names_is_a_name_in_the_first_row():
    column = ColumnCells("satz", ["Ein Boot"])
    row = FirstRow([column], chosen_names=["satz"])
    assert row.cell_roles == {CellRole.NAME}


def first_row(*cells, below):
    """Returns a row above another one."""
    columns = zip(cells, below, strict=True)
    return FirstRow([ColumnCells(cell, [value]) for cell, value in columns], ())


@pytest.mark.parametrize(
    ("cells", "below"),
    [
        (["name", "2013", "2014"], ["Peru", "7.5", "8.5"]),
        (["name", "2013.0"], ["Peru", "7.5"]),
        (["0", "1", "2"], ["0.5", "0.7", "0.1"]),
        (["name", "0", "5", "10"], ["Peru", "1", "7", "8"]),
        (["", "0"], ["0", "0.5"]),
    ],
)
def test_years_and_consecutive_numbers_may_be_column_names(cells, below):
    assert first_row(*cells, below=below).numbers_may_be_names


@pytest.mark.parametrize(
    ("cells", "below"),
    [
        (["7", "8"], ["5", "9"]),
        (["name", "0"], ["Peru", "0.5"]),
        (["Anna", "2013"], ["Bert", "2014"]),
        (["name", "3", "7", "8"], ["Peru", "1", "7", "8"]),
        (["It left at noon again.", "0", "1"], ["It sank.", "2", "3"]),
    ],
)
def test_numbers_that_look_like_values_are_not_column_names(cells, below):
    assert not first_row(*cells, below=below).numbers_may_be_names


def test_one_word_above_at_least_four_texts_may_be_their_name():
    texts = [f"The boat left at {hour}" for hour in range(4)]
    assert is_word_above_texts(ColumnCells("remark", texts))
    assert not is_word_above_texts(ColumnCells("a word", texts))
    assert not is_word_above_texts(ColumnCells("remark", texts[1:]))
