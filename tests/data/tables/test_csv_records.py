"""Records of CSV whose marks are known."""

import pytest

from data.tables import csv_records
from data.tables.csv_records import Dialect, MalformedRecord, parse_records


def test_a_record_has_the_number_of_its_first_line():
    lines = ['"a\n', 'b",x\n', "c,y\n"]
    assert [*parse_records(lines, Dialect(","))] == [
        (1, ["a\nb", "x"]),
        (3, ["c", "y"]),
    ]


def test_a_quote_after_a_backslash_is_a_character_if_the_dialect_escapes():
    lines = ['"a \\"b\\" c\\\\",x\n']
    records = parse_records(lines, Dialect(",", escapes=True))
    assert [*records] == [(1, ['a "b" c\\', "x"])]


def test_quotes_are_characters_without_quoting():
    records = parse_records(['"a,b"\n'], Dialect(",", quoting=False))
    assert [*records] == [(1, ['"a', 'b"'])]


def test_the_records_after_a_malformed_one_are_read():
    lines = ['"a" b,x\n', "c,y\n"]
    (_, malformed), second = parse_records(lines, Dialect(","))
    assert isinstance(malformed, MalformedRecord)
    assert not malformed.spans_lines
    assert second == (2, ["c", "y"])


def test_a_quote_that_is_never_closed_spans_lines():
    ((number, malformed),) = parse_records(['"a,x\n', "b,y\n"], Dialect(","))
    assert number == 1
    assert malformed.spans_lines


def test_the_error_names_the_flag_that_makes_quotes_characters():
    malformed = MalformedRecord("a quote is not closed", spans_lines=True)
    assert malformed.explain("--noquoting") == (
        "a quote is not closed. Close the quote, write a quote in a quoted "
        'cell twice (""), or set --noquoting if quotes are ordinary '
        "characters in this table"
    )


@pytest.mark.parametrize(
    ("row", "delimiter", "is_swallowed"),
    [
        (["a", "b\nc\td\ne", "f"], "\t", False),
        (["a", "b  c\td\n  e\tf"], "\t", False),
        (["a", "b\nc\td"], "\t", True),
        (["a", "b\nc,d"], ",", False),
        (["a", "b\nc d"], "\t", False),
    ],
)
def test_a_cell_with_as_many_tabs_as_its_lines_have_swallowed_them(
    row, delimiter, is_swallowed
):
    assert csv_records.is_swallowed(row, delimiter) == is_swallowed
