"""Files and lines that look like rows of a table, and are none.

Tools write them: exports of data miners, databases and spreadsheets, downloads
that went wrong. An error says what each is.
"""

import pytest

from tests.support.tables.table_rows import read_numbered_rows, read_table_rows

RULERS = {
    "psql.csv": " id | text\n----+------\n  1 | A boat\n  2 | A car\n",
    "page.csv": "| text | label |\n|---|:--|\n| A | b |\n| C | d |\n",
    "frame.csv": "------\n|id|text|\n------\n|1|A boat|\n|2|A car|\n------\n",
    "plus.csv": "+----+------+\n| id | text |\n+----+------+\n| 1 | A |\n",
}


@pytest.mark.parametrize(("name", "data"), RULERS.items(), ids=RULERS)
def test_a_line_drawn_around_the_names_is_an_error(tmp_path, name, data):
    with pytest.raises(
        ValueError, match="is drawn around the names of the columns"
    ):
        read_numbered_rows(tmp_path, name, data)


OTHER_MARKS = {"\x01": "x01", "^": r"\^", "::": "::", "    ": "  "}


@pytest.mark.parametrize("mark", OTHER_MARKS)
def test_other_marks_between_cells_are_an_error(tmp_path, mark):
    rows = [["text", "label"], ["A boat", "sea"], ["It left", "x"], ["C", "x"]]
    data = "".join(mark.join(row) + "\n" for row in rows)
    with pytest.raises(ValueError, match=OTHER_MARKS[mark] + ".*tab"):
        read_numbered_rows(tmp_path, "marks.csv", data)


@pytest.mark.parametrize("end", ["", ";"])
def test_lines_that_are_quoted_as_a_whole_are_an_error(tmp_path, end):
    lines = [f'"""A boat, {i}"",sea"{end}\n' for i in range(4)]
    data = "".join([f"text,label{end}\n", *lines])
    with pytest.raises(ValueError, match="quoted as a whole"):
        read_numbered_rows(tmp_path, "whole.csv", data)


ONE_COLUMN_OF_MARKS = "boost::name\n" + "".join(
    f"std::set_{i}\n" for i in range(5)
)


def test_an_error_about_a_mark_names_the_flag_for_one_column(tmp_path):
    with pytest.raises(ValueError, match="--delimiter=tab"):
        read_numbered_rows(tmp_path, "names.csv", ONE_COLUMN_OF_MARKS)


def test_the_flag_that_the_error_names_reads_one_column(tmp_path):
    layout = {"delimiter": "tab", "has_header": True}
    rows = read_numbered_rows(
        tmp_path, "names.csv", ONE_COLUMN_OF_MARKS, **layout
    )
    assert rows[0] == (2, {"boost::name": "std::set_0"})


NO_TABLES = {
    "page.csv": ["<!DOCTYPE html>\n<html>\n<p>Sign in</p>\n", "a web page"],
    "pointer.csv": [
        "version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 1\n",
        "git lfs pull",
    ],
    "pointer.jsonl": [
        "version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 1\n",
        "git lfs pull",
    ],
    "lines.csv": ['{"text": "a, b"}\n{"text": "c, d"}\n', "JSON.*jsonl"],
    "list.csv": ['[{"text": "a, b"},\n{"text": "c"}]\n', "JSON.*jsonl"],
}


@pytest.mark.parametrize(("name", "table"), NO_TABLES.items(), ids=NO_TABLES)
def test_a_file_that_is_not_a_table_is_named(tmp_path, name, table):
    data, words = table
    with pytest.raises(ValueError, match=words):
        read_numbered_rows(tmp_path, name, data)


BLANKS = 'text, label\nA boat, "sea"\nA car, "road"\nA pram, "road"\n'


def test_quotes_that_stay_after_blanks_are_an_error(tmp_path):
    layout = {"quoting": True, "delimiter": ","}
    with pytest.raises(ValueError, match=r"' \"sea\"'.* blank before"):
        read_table_rows(tmp_path, "blanks.csv", BLANKS, **layout)


def test_quotes_after_blanks_are_characters_if_the_user_says_so(tmp_path):
    layout = {"quoting": False, "has_header": True}
    rows = read_table_rows(tmp_path, "blanks.csv", BLANKS, **layout)
    assert rows[0][" label"] == ' "sea"'


APOSTROPHES = {
    "names.csv": "'text','label'\ngood day,pos\n",
    "commas.csv": "'text','label'\n'a, b','x'\n'c, d','y'\n",
    "blanks.csv": "'text', 'label'\n'a', 'x'\n'c', 'y'\n",
    "cells.csv": "text;label\n'a, b';'x'\n'c, d';'y'\n'e';'x'\n",
    "texts.csv": "text,label\n'a b',1\n'c d',2\n'e f',1\n",
    "rows.csv": "'a b','x'\n'c d','y'\n'e f','x'\n",
}


@pytest.mark.parametrize(("name", "data"), APOSTROPHES.items(), ids=APOSTROPHES)
@pytest.mark.parametrize("has_header", [None, True])
def test_apostrophes_around_cells_are_an_error(
    tmp_path, name, data, has_header
):
    with pytest.raises(ValueError, match="apostrophes stand around the cell"):
        read_table_rows(tmp_path, name, data, has_header=has_header)


def test_apostrophes_within_texts_are_read(tmp_path):
    data = "text,label\n'Tis nice,x\n'No' means no,y\nThe cats',x\n"
    assert len(read_table_rows(tmp_path, "texts.csv", data)) == 3


def test_apostrophes_are_characters_if_the_user_says_so(tmp_path):
    data = "'text','label'\na,x\nb,y\n"
    layout = {"has_header": True, "quoting": False}
    rows = read_table_rows(tmp_path, "names.csv", data, **layout)
    assert rows[0] == {"'text'": "a", "'label'": "x"}


SINGLE_BLANKS = {
    "numbers.csv": "t status sex\n35 0 1\n34 1 1\n",
    "quoted.csv": '"t" "status"\n"a b" 0\n',
    "r.csv": '"t" "status"\n"1" "a b" "x"\n"2" "c" "y"\n',
    "pairs.tsv": "name age\nAnna 35\nBert 36\nCarl 12\n",
}


@pytest.mark.parametrize(
    ("name", "data"), SINGLE_BLANKS.items(), ids=SINGLE_BLANKS
)
@pytest.mark.parametrize("has_header", [None, True, False])
def test_single_blanks_between_cells_are_an_error(
    tmp_path, name, data, has_header
):
    with pytest.raises(ValueError, match="' ' seems to be the mark"):
        read_table_rows(tmp_path, name, data, has_header=has_header)


ONE_COLUMN = {
    "texts.csv": "text\ngood day\nbad day\n",
    "times.csv": "time\n2026-01-31 10:00\n2026-01-31 11:00\n",
    "titles.csv": "title\n12 monkeys\nToy story\nSome like it hot\n",
}


@pytest.mark.parametrize(("name", "data"), ONE_COLUMN.items(), ids=ONE_COLUMN)
def test_texts_with_blanks_are_one_column(tmp_path, name, data):
    rows = read_table_rows(tmp_path, name, data, has_header=True)
    assert {len(row) for row in rows} == {1}
