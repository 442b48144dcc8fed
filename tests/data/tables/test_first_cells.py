"""What the first cell of a column is, judged by the cells below it."""

import pytest

from data.tables import first_cells
from data.tables.first_cells import CellKind, ColumnCells, FirstRow

TEXT = ColumnCells("It left at noon again.", ["It sank."])


@pytest.mark.parametrize(
    ("first", "below", "kind"),
    [
        ("7", ["5", "9"], CellKind.VALUE),
        ("2026-01-31", ["2026-02-01", "2026-02-02"], CellKind.VALUE),
        ("price", ["10", "12"], CellKind.NAME),
        ("born", ["2026-01-31", "2026-02-01"], CellKind.NAME),
        ("kind", ["ham", "ham", "spam", "spam"], CellKind.NAME),
        ("spam", ["ham", "spam"], CellKind.REPEATED),
        ("title", ["A boat", "A car"], CellKind.NAME),
        ("boat", ["car"], CellKind.UNKNOWN),
        ("kind", ["ham", "spam", "spam"], CellKind.UNKNOWN),
        ("n/a", ["10", "12"], CellKind.UNKNOWN),
        ("", ["10", "12"], CellKind.UNKNOWN),
        ("title", ["title", "A car"], CellKind.REPEATED),
    ],
)
def test_the_first_rule_that_fits_tells_the_kind(first, below, kind):
    column = ColumnCells(first, below)
    row = FirstRow([column])
    assert first_cells.kind_of_first_cell(column, row) == kind


@pytest.mark.parametrize(
    ("first", "below", "kind"),
    [
        ("price", ["10", "12"], CellKind.UNKNOWN),
        ("kind", ["ham", "ham", "spam", "spam"], CellKind.UNKNOWN),
        ("title", ["A boat", "A car"], CellKind.NAME),
        ("spam", ["ham", "spam"], CellKind.REPEATED),
    ],
)
def test_beside_a_text_only_a_usual_name_is_a_name(first, below, kind):
    column = ColumnCells(first, below)
    row = FirstRow([column, TEXT])
    assert first_cells.kind_of_first_cell(column, row) == kind


def test_a_name_that_the_user_chose_is_a_name():
    column = ColumnCells("satz", ["Ein Boot"])
    row = FirstRow([column], chosen_names=["satz"])
    assert row.kinds == {CellKind.NAME}


def first_row(*cells, below):
    """Returns a row above another one."""
    columns = zip(cells, below, strict=True)
    return FirstRow([ColumnCells(cell, [value]) for cell, value in columns])


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
def test_years_and_numbers_in_sequence_may_be_names(cells, below):
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
def test_other_numbers_are_no_names(cells, below):
    assert not first_row(*cells, below=below).numbers_may_be_names


def test_a_word_above_four_long_texts_may_be_their_name():
    texts = [f"The boat left at {hour}" for hour in range(4)]
    assert first_cells.is_word_above_texts(ColumnCells("remark", texts))
    assert not first_cells.is_word_above_texts(ColumnCells("a word", texts))
    assert not first_cells.is_word_above_texts(ColumnCells("remark", texts[1:]))


def test_a_column_that_the_user_chose_is_a_usual_name():
    assert not first_cells.is_usual_name("satz")
    assert first_cells.is_usual_name("satz", ["satz"])


@pytest.mark.parametrize("cell", ["7", " -1.5 ", "1,000.50", "12%", "2e-5"])
def test_a_number_may_have_a_sign_marks_and_an_exponent(cell):
    assert first_cells.is_number(cell)


@pytest.mark.parametrize("cell", ["", ".", "7 seas", "2026-01-31", "e5"])
def test_other_cells_are_no_numbers(cell):
    assert not first_cells.is_number(cell)
