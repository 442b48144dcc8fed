"""Rows whose first one names the columns, is a row, or may be either.

Where nothing tells, an error asks for --has_header.
"""

import csv

import pytest

from data.tables import header_detection
from data.tables.header_detection import (
    CellRole,
    ColumnCells,
    FirstRow,
    guess_cell_role,
    is_word_above_texts,
)
from tests.support.tables.table_rows import read_table_rows


def has_header(lines):
    """Returns whether the first of some lines with commas is the header."""
    return header_detection.guess_header("f.csv", [*csv.reader(lines)], ())


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(["text,price", "It left.,10"], id="above_number"),
        pytest.param(["kind", "ham", "spam", "ham", "spam"], id="above_labels"),
        pytest.param(["title", "A boat", "A car"], id="usual"),
        pytest.param(["Person,Born", "Anna,2026-01-31"], id="above_date"),
        pytest.param(["Name,1,2", "Anna,15,17", "Bert,12,11"], id="numbers"),
        pytest.param(
            ["Region,Code,2019", "North,7,1.5", "South,8,3.1"], id="year"
        ),
        pytest.param(
            ["How old are you in years?,Height", "35,170"], id="long_names"
        ),
    ],
)
def test_a_first_line_with_a_name_and_no_value_is_a_header(lines):
    assert has_header(lines)


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(["7,sea", "8,road"], id="number"),
        pytest.param(["Anna,1983", "Bert,1990", "Carl,1975"], id="years"),
        pytest.param(["Anna,2019,12", "Bert,35,14"], id="numbers"),
        pytest.param(["0,A boat left", "1,The car went"], id="label"),
        pytest.param(["264,good,Gas", "265,bad,Theo"], id="index"),
        pytest.param(["Anna,2026-01-31", "Bert,2026-02-01"], id="dates"),
        pytest.param(["Anna,1/31/2026", "Bert,2/1/2026"], id="slashes"),
        pytest.param(
            ["Anna,31.1.2026", "Bert,1.2.26 10:05:00"], id="points_and_time"
        ),
        pytest.param(["7,sea", "8,road", "9,sea"], id="value_and_repeated"),
    ],
)
def test_a_first_line_with_a_value_and_no_name_is_a_row(lines):
    assert not has_header(lines)


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(
            ["It left at noon again.,sea", "It sank.,sea"], id="label"
        ),
        pytest.param(
            ["It left at noon today", "A car", "It left at noon today"],
            id="same_text",
        ),
    ],
)
def test_a_first_line_with_a_text_and_a_repeated_cell_is_a_row(lines):
    assert not has_header(lines)


TEXTS = [f"It left at {hour}" for hour in range(4)]


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(["price,sea", "10,sea"], id="name_and_repeated"),
        pytest.param(["price,7", "10,5", "12,9"], id="name_and_value"),
        pytest.param(
            ["remark,7", *(f"{text},5" for text in TEXTS)],
            id="word_above_texts",
        ),
        pytest.param(["spam", "spam"], id="repeated"),
        pytest.param(["boat", "car"], id="unknown"),
        pytest.param(["Carl,-", "Anna,2026-01-31"], id="missing_date"),
        pytest.param(["NA,Nice one", "0,It is 0", "1,It is 1"], id="missing"),
        pytest.param(["Wort,Nomen", "gehen,Verb", "Haus,Nomen"], id="label"),
        pytest.param(["a,b,c,,", "a,,,,", ",,c,", ",,,,"], id="empty_cells"),
        pytest.param(["a,b,c", "1,cat", "dog,c", "3,b,c"], id="short_rows"),
    ],
)
def test_a_first_line_that_may_be_names_or_a_row_asks_for_the_flag(lines):
    with pytest.raises(ValueError, match=r"f\.csv: nothing tells whether"):
        has_header(lines)


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(["Region,2019,2020", "North,12.5,13.1"], id="years"),
        pytest.param(["Country,2013", "Canada,35160000"], id="year"),
        pytest.param(["Region,2021,2020", "North,12,13"], id="backward"),
        pytest.param([",0,1,2", "0,0.5,0.7,0.1"], id="pandas"),
        pytest.param([",0", "0,0.5", "1,0.7"], id="series"),
        pytest.param(["Country,0,5,10", "Peru,1.5,2.5,7.1"], id="ages"),
        pytest.param(["Country,2013.0,2014.0", "Peru,7.5,8.5"], id="floats"),
        pytest.param(["2019,2020,2021", "12.5,13.1,8.5"], id="only_years"),
        pytest.param(["0,1,2", "0.5,0.7,0.1"], id="range"),
        pytest.param([",0,1", "0,Good day,0.7", "1,Bad,0.5"], id="text"),
    ],
)
def test_numbers_that_may_be_names_ask_for_the_header(lines):
    with pytest.raises(ValueError, match=r"f\.csv: nothing tells whether"):
        has_header(lines)


def test_numbers_in_the_first_row_are_names_with_has_header(tmp_path):
    data = "Region,2019,2020\nNorth,12.5,13.1\n"
    (row,) = read_table_rows(tmp_path, "years.csv", data, has_header=True)
    assert [*row] == ["Region", "2019", "2020"]


def test_a_second_line_of_the_same_names_leaves_the_first_a_header():
    assert has_header(["text,label", "text,label", "A boat,sea"])


def test_a_name_that_the_user_chose_makes_a_header():
    rows = [["satz"], ["Ein Boot"]]
    assert header_detection.guess_header("f.csv", rows, ["satz"])


def test_a_name_that_the_user_chose_is_not_a_title():
    rows = [["satz", ""], ["Ein Boot", "1"], ["Zwei Autos", "2"]]
    assert header_detection.decide_header(
        "f.csv", rows, None, chosen_names=["satz"]
    )


def test_names_repeat_after_the_mark_of_utf_8_of_a_joined_file():
    assert header_detection.is_repeated_header(
        ["\ufefftext", "label"], ["text", "label"]
    )


def test_a_header_of_one_column_is_not_found_again_below():
    assert not header_detection.is_repeated_header(["text"], ["text"])


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
