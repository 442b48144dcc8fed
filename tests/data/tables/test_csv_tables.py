"""CSV tables: how they are written, and the rows that are read from them."""

import pytest

from data.tables.csv_sample import Dialect
from data.tables.csv_tables import (
    CsvTable,
    MalformedRow,
    has_swallowed_lines,
    open_csv,
)
from data.tables.table_layout import TableLayout
from tests.support.tables.table_rows import read_numbered_rows

# Tables whose names or cells make no sense as UTF-8.
WRONG_BYTES = {
    "names.csv": "Мнение,Жизнь\nЧтили 1,годно 1\nЧтили 2,годно 2\n",
    "names_only.csv": "Мнение,text\nAnna,hello\nBert,good day\n",
    "mark.csv": "a;Ладный,1\nb;Зря,2\n",
}


def open_lines(lines, **layout):
    """Returns the CsvTable of lines, which may be an iterator."""
    return open_csv("f.csv", iter(lines), TableLayout(**layout), is_tsv=False)


def test_the_lines_that_showed_the_layout_are_parsed_too():
    table = open_lines(["id;text\n", "1;a\n", "2;b\n"])
    assert [*table.parse_rows()] == [
        (1, ["id", "text"]),
        (2, ["1", "a"]),
        (3, ["2", "b"]),
    ]


def test_no_line_is_read_ahead_of_a_layout_that_the_user_chose():
    lines = iter(["a,b\n"])
    open_lines(lines, delimiter=",", quoting=True, has_header=False)
    assert next(lines) == "a,b\n"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [",", ";"])
def test_the_sep_line_of_excel_sets_the_delimiter(tmp_path, mark, end):
    rows_written = [f"sep={mark}", f"text{mark}label"]
    for i in range(9):
        label = "sea" * (i % 2)
        rows_written.append(f'"It left at {i}, late"{mark}{label}')
    data = "".join(f"{row}{end}" for row in rows_written)
    rows = read_numbered_rows(tmp_path, "excel.csv", "\ufeff" + data)
    assert rows[1] == (4, {"text": "It left at 1, late", "label": "sea"})
    assert len(rows) == 9


@pytest.mark.parametrize(("name", "data"), WRONG_BYTES.items(), ids=WRONG_BYTES)
def test_the_error_about_the_encoding_comes_first(tmp_path, name, data):
    data = data.encode("cp1251")
    with pytest.raises(ValueError, match=r"line 1: .*--encoding=cp1251"):
        read_numbered_rows(tmp_path, name, data)


def test_the_error_quotes_a_wrongly_decoded_word(tmp_path):
    data = "text,place\nDas war,München\n".encode("cp1252")
    with pytest.raises(ValueError, match="'München' in cp1252"):
        read_numbered_rows(tmp_path, "words.csv", data)


def test_a_cell_that_contains_the_next_lines_is_an_error(tmp_path):
    data = 'text\tlabel\n"A tug\tsea\nA barge"\tsea\n'
    with pytest.raises(
        ValueError, match="contains the next lines of the table"
    ):
        read_numbered_rows(
            tmp_path, "a.tsv", data, has_header=True, quoting=True
        )


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
