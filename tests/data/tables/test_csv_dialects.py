"""The marks between and around the cells of a table."""

import pytest

from data.tables.csv_dialects import guess_dialect
from data.tables.csv_sample import NO_DELIMITER, CsvSample, Dialect
from data.tables.table_layout import TableLayout
from tests.support.tables.table_rows import read_numbered_rows, read_table_rows

# Rows whose texts contain commas, so that a comma may be the delimiter too.
ROWS_WITH_COMMAS = "Good, I like it{mark}pos\nBad, I left{mark}neg\n"
for_each_mark = pytest.mark.parametrize("mark", ["\t", ";", "|"])


# {what shows the dialect: (contents of the table, its dialect)}.
DIALECTS = {
    "commas": ("id,text\n1,a\n", Dialect(",")),
    "semicolons": ("id;text\n1;a\n", Dialect(";")),
    "tabs": ("id\ttext\n1\ta\n", Dialect("\t")),
    "bars": ("id|text\n1|a\n", Dialect("|")),
    "commas only in quotes": ('id;text\n1;"a, b"\n2;"c; d"\n', Dialect(";")),
    "quote written twice": ('id,text\n1,"a ""b"" c"\n', Dialect(",")),
    "line break in quotes": ('id,text\n1,"a\nb"\n', Dialect(",")),
    "empty row above": (",\nid,text\n1,a\n", Dialect(",")),
    "quote after a backslash": (
        'id,text\n1,"a \\"b\\" c"\n',
        Dialect(",", has_escapes=True),
    ),
    "blank before a quote": (
        'id, text\n1, "a, b"\n',
        Dialect(",", is_spaced=True),
    ),
    "blank, and quote after a backslash": (
        'id, text\n1, "a \\"b\\", c"\n',
        Dialect(",", has_escapes=True, is_spaced=True),
    ),
    "quote that is never closed, in tabs": (
        'id\ttext\n1\t"a\n2\tb\n',
        Dialect("\t", quoting=False),
    ),
    "quote that is never closed, in bars": (
        'id|text\n1|"a\n2|b\n',
        Dialect("|", quoting=False),
    ),
    "doubled quotes, in tabs": ('id\ttext\n1\t"a ""b"""\n', Dialect("\t")),
}
# Of dialects that fit, the one with the fewest stray quotes is the strictest.
STRICTEST = {
    "semicolons would cut quoted cells": (
        'a,"x; y"\nb,"z; w"\n',
        Dialect(","),
    ),
    "commas would cut quoted cells": ('a;"x, y"\nb;"z, w"\n', Dialect(";")),
    "no backslashes if quotes are written twice": (
        'id,text\n1,"a ""b"" \\"\n',
        Dialect(","),
    ),
    "no blanks if none is needed": ("id,text\n1, a\n", Dialect(",")),
}
# No dialect fits these tables, so that their names decide.
MALFORMED = {
    "a row of three cells": ("id;text\n1;a;x\n", Dialect(";")),
    "commas only in the rows": ("text;n\na, b;1\nc;2;3\n", Dialect(";")),
    "an open quote, in commas": ('id,text\n1,"a\n2,b\n', Dialect(",")),
    "no mark in the name": ("text\na,b\nc\n", Dialect(NO_DELIMITER)),
}


def dialect_of(text, is_tsv=False, **layout):
    """Returns the dialect of the contents of a table."""
    sample = CsvSample("f.csv", iter(text.splitlines(keepends=True)))
    return guess_dialect(sample, TableLayout(**layout), is_tsv=is_tsv)


def parametrize_table(table):
    """Parametrizes a test with the entries of a table above, named by key."""
    return pytest.mark.parametrize(
        ("text", "dialect"), table.values(), ids=table
    )


@parametrize_table(DIALECTS)
def test_the_marks_of_a_table_show_its_dialect(text, dialect):
    assert dialect_of(text) == dialect


@parametrize_table(STRICTEST)
def test_the_strictest_dialect_that_fits_is_chosen(text, dialect):
    assert dialect_of(text) == dialect


@parametrize_table(MALFORMED)
def test_the_names_of_a_malformed_table_show_its_dialect(text, dialect):
    assert dialect_of(text) == dialect


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        pytest.param("id\ttext\n1\ta, b\n", "\t", id="tabs fit"),
        pytest.param("id\ttext\n1\ta\tb\n", "\t", id="ragged rows of tabs"),
        pytest.param("text\na,b\nc\n", "\t", id="nothing fits"),
    ],
)
def test_a_file_named_tsv_has_tabs(text, delimiter):
    assert dialect_of(text, is_tsv=True) == Dialect(delimiter)


def test_commas_in_a_file_named_tsv_are_refused():
    with pytest.raises(ValueError, match="set --delimiter"):
        dialect_of("id,text\n1,a\n", is_tsv=True)


@pytest.mark.parametrize(
    ("chosen", "dialect"),
    [
        ({"delimiter": ";"}, Dialect(";")),
        ({"quoting": False}, Dialect(",", quoting=False)),
        (
            {"delimiter": ";", "quoting": False},
            Dialect(";", quoting=False),
        ),
    ],
    ids=["delimiter", "quoting", "both"],
)
def test_flags_of_the_user_decide_the_dialect(chosen, dialect):
    assert dialect_of('id,"text"\n1,"a"\n', **chosen) == dialect


def test_blanks_before_quotes_are_read_beside_escaped_quotes(tmp_path):
    data = 'Name, Country\n"A \\"B\\" C", "JAM"\n"D", "USA, NY"\n'
    rows = read_table_rows(tmp_path, "blanks.csv", data, has_header=True)
    assert rows == [
        {"Name": 'A "B" C', "Country": "JAM"},
        {"Name": "D", "Country": "USA, NY"},
    ]


def test_commas_in_quoted_texts_of_one_column_split_nothing(tmp_path):
    data = "text\n" + '"Well, yes"\n' * 5
    rows = read_numbered_rows(tmp_path, "texts.csv", data)
    assert rows[0] == (2, {"text": "Well, yes"})


def test_commas_in_quoted_texts_without_a_header_split_nothing(tmp_path):
    data = "".join(f'"Well, yes {i}"\n' for i in range(5))
    rows = read_numbered_rows(tmp_path, "texts.csv", data, has_header=False)
    assert rows[0] == (1, {"1": "Well, yes 0"})


def test_the_error_about_a_quote_can_be_encoded(tmp_path):
    data = '"text" "label"\n"1" "A boat" "sea"\n"2" "A car"\n'
    with pytest.raises(ValueError, match="Close the quote") as raised:
        read_numbered_rows(tmp_path, "blanks.csv", data, has_header=True)
    assert str(raised.value).encode()


@for_each_mark
@pytest.mark.parametrize("names", ["", "text, in full{mark}label\n"])
def test_two_possible_delimiters_ask_for_the_flag(tmp_path, mark, names):
    data = (names + ROWS_WITH_COMMAS).format(mark=mark)
    with pytest.raises(ValueError, match="set --delimiter"):
        read_numbered_rows(tmp_path, "a.csv", data, has_header=bool(names))


@for_each_mark
def test_the_delimiter_that_the_user_chose_cuts_the_rows(tmp_path, mark):
    layout = {"delimiter": "tab" if mark == "\t" else mark}
    layout["has_header"] = False
    data = ROWS_WITH_COMMAS.format(mark=mark)
    assert read_table_rows(tmp_path, "a.csv", data, **layout) == [
        {"1": "Good, I like it", "2": "pos"},
        {"1": "Bad, I left", "2": "neg"},
    ]


@for_each_mark
def test_the_only_delimiter_of_the_header_splits_the_rows(tmp_path, mark):
    data = ("text{mark}label\n" + ROWS_WITH_COMMAS).format(mark=mark)
    rows = read_table_rows(tmp_path, "a.csv", data, has_header=True)
    assert [row["label"] for row in rows] == ["pos", "neg"]
