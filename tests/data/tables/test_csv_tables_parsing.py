"""Rows of CSV in a dialect, and quotes that are malformed."""

import pytest

from data.tables.csv_sample import Dialect
from data.tables.csv_tables import CsvTable, MalformedRow, has_swallowed_lines


def parse_rows(lines, dialect):
    """Returns the numbered rows of a table without a header."""
    return CsvTable(iter(lines), dialect, False, None).parse_rows()


def test_a_row_has_the_number_of_its_first_line():
    lines = ['"a\n', 'b",x\n', "c,y\n"]
    assert [*parse_rows(lines, Dialect(","))] == [
        (1, ["a\nb", "x"]),
        (3, ["c", "y"]),
    ]


def test_a_dialect_with_escapes_reads_a_backslash_before_a_quote():
    lines = ['"a \\"b\\" c\\\\",x\n']
    rows = parse_rows(lines, Dialect(",", has_escapes=True))
    assert [*rows] == [(1, ['a "b" c\\', "x"])]


def test_quotes_are_characters_without_quoting():
    rows = parse_rows(['"a,b"\n'], Dialect(",", quoting=False))
    assert [*rows] == [(1, ['"a', 'b"'])]


def test_the_rows_after_a_malformed_one_are_read():
    lines = ['"a" b,x\n', "c,y\n"]
    malformed, second = parse_rows(lines, Dialect(","))
    assert isinstance(malformed, MalformedRow)
    assert not malformed.is_multiline
    assert second == (2, ["c", "y"])


def test_a_quote_that_is_never_closed_spans_lines():
    (malformed,) = parse_rows(['"a,x\n', "b,y\n"], Dialect(","))
    assert malformed.line_number == 1
    assert malformed.is_multiline


def test_the_error_names_the_flag_that_makes_quotes_characters():
    malformed = MalformedRow(1, "a quote is not closed", is_multiline=True)
    assert malformed.explain("--noquoting") == (
        "a quote is not closed. Close the quote, write a quote in a quoted "
        'cell twice (""), or set --noquoting if quotes are ordinary '
        "characters in this table"
    )


@pytest.mark.parametrize(
    ("row", "delimiter", "has_swallowed"),
    [
        (["a", "b\nc\td\ne", "f"], "\t", False),
        (["a", "b  c\td\n  e\tf"], "\t", False),
        (["a", "b\nc\td"], "\t", True),
        (["a", "b\nc,d"], ",", False),
        (["a", "b\nc d"], "\t", False),
    ],
)
def test_is_swallowed_finds_a_cell_that_contains_whole_rows(
    row, delimiter, has_swallowed
):
    assert has_swallowed_lines(row, delimiter) == has_swallowed
