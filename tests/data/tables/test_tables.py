"""Tables whose rows a caller reads, and whose columns it checks."""

import gzip

import numpy as np
import pytest

from data.tables.table_layout import TableLayout
from data.tables.tables import Table, read_rows, read_table
from tests.support.tables.table_rows import (
    read_numbered_rows,
    read_table_rows,
    write_table,
)


def test_each_read_of_a_table_has_all_rows(tmp_path):
    path = write_table(tmp_path / "a.csv", "text,label\na,x\nb,y\n")
    table = Table(path)
    assert table.read_column_names() == ["text", "label"]
    rows = [*table.read()]
    assert [number for number, _ in rows] == [2, 3]
    assert [*table.read()] == rows
    assert table.read_column_names() == ["text", "label"]
    assert [*table.read()] == rows


def test_a_with_statement_drops_the_row_that_a_table_has_read(tmp_path):
    path = write_table(tmp_path / "a.csv", "text,label\na,x\n")
    with Table(path) as table:
        table.read_column_names()
    write_table(tmp_path / "a.csv", "text,label\nb,y\n")
    ((_, row),) = table.read()
    assert row == {"text": "b", "label": "y"}


def test_only_the_first_row_must_have_all_columns_of_some_tables(tmp_path):
    lines = ['{"text": "a", "label": "x"}', '{"text": "b"}']
    path = write_table(tmp_path / "a.jsonl", "\n".join(lines))
    rows = read_table(Table(path), ["text"], ["label"], fills_later_rows=True)
    assert [row.cells["label"] for row in rows] == ["x", None]
    with pytest.raises(ValueError, match=r"line 2: there is no column 'label'"):
        list(read_table(Table(path), ["text"], ["label"]))


@pytest.mark.parametrize("has_header", [True, False])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_a_name_of_a_column_may_be_1(tmp_path, name, has_header):
    path = write_table(tmp_path / name, "1\t2\na\tx\nb\ty\n")
    table = Table(path, TableLayout(has_header=has_header))
    assert table.read_column_names() == ["1", "2"]
    row, *_ = read_table(table, ["1"])
    assert row.spreadsheet_number == (2 if has_header else 1)
    assert len([*table.read()]) == (2 if has_header else 3)


def test_json_does_not_name_columns_in_a_line(tmp_path):
    path = write_table(tmp_path / "a.jsonl", '{"text": "a"}\n')
    (row,) = read_table(Table(path), ["text"])
    assert row.spreadsheet_number == 1


def test_each_read_of_a_malformed_first_row_raises_the_same_error(tmp_path):
    table = Table(write_table(tmp_path / "a.csv", "id,text\n1\n2,b\n"))
    for _ in range(2):
        with pytest.raises(ValueError, match=r"a\.csv, line 2: "):
            table.read_column_names()


HEADER = b"id,text\n"


@pytest.mark.parametrize(
    ("data", "culprit"),
    [
        # The end of a cell is not known, so the rows after it are not either.
        (HEADER + b'1,"a\n2,b\n3,c\n', "a.csv, line 2"),
        (b"text,text\na,b\n", "line 2: two columns are named 'text'"),
        (b"id;texts\n1;a\n", "'id', 'texts'. Did you mean 'texts'"),
        ("文,签\n中,国\n".encode("utf-16-le"), "UTF-16"),
        (b"PK\3\4\x14\0\6\0\n", "Excel"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_error(tmp_path, data, culprit):
    path = write_table(tmp_path / "a.csv", data)
    with pytest.raises(ValueError, match=culprit):
        list(read_table(Table(path), ["text"]))


def test_a_damaged_gzip_file_is_one_error(tmp_path):
    compressed = gzip.compress(HEADER, mtime=0)[:-9]
    path = write_table(tmp_path / "a.csv", compressed)
    with pytest.raises(OSError, match=f"{path}: the gzip file is damaged"):
        list(read_table(Table(path), ["text"]))


REPEATED = "text,Tag,Tag,Tag.1,,\na,1,2,3,4,5\n"


def test_columns_that_nobody_reads_may_repeat(tmp_path):
    table = Table(write_table(tmp_path / "a.csv", REPEATED))
    (row,) = read_table(table, ["text"])
    assert row.cells == {
        "text": "a",
        "Tag": "1",
        "Tag.2": "2",
        "Tag.1": "3",
        "": "4",
        ".1": "5",
    }


def test_a_column_that_is_read_must_not_repeat(tmp_path):
    table = Table(write_table(tmp_path / "a.csv", REPEATED))
    with pytest.raises(ValueError, match="two columns are named 'Tag'"):
        next(read_table(table, ["text"], ["Tag"]))


def test_a_row_that_lacks_a_column_by_number_is_an_error(tmp_path):
    data = "m\t0.5\tOne.\nm\t1.0\tTwo.\nm\t2\n"
    layout = TableLayout(delimiter="tab", quoting=False, has_header=False)
    table = Table(write_table(tmp_path / "a.csv", data), layout)
    with pytest.raises(ValueError, match="line 3: "):
        list(read_table(table, ["3"]))


def test_reading_a_table_stops_at_its_first_bad_row(tmp_path):
    data = "id,text\n1,a\n2\n3,b\n"
    rows = read_table(Table(write_table(tmp_path / "a.csv", data)), ["text"])
    assert next(rows).cells["text"] == "a"
    with pytest.raises(ValueError, match=r"a\.csv, line 3: "):
        next(rows)


def test_null_is_an_empty_text(tmp_path):
    lines = ['{"text": null, "n": NaN}', '{"text": NaN, "n": -Infinity}']
    path = write_table(tmp_path / "a.jsonl", "\n".join(lines))
    rows = [row.cells for row in read_table(Table(path), ["text"])]
    assert rows == [{"text": "", "n": None}, {"text": "", "n": -np.inf}]


OTHER_WIDTHS = {
    "one_more.csv": "1,good day\n2,bad, very bad\n3,fine\n",
    "of_two.csv": "1,good day\n2,bad, very bad\n",
    "one_less.tsv": "1\tgood\tx\n2\tbad\n3\tfine\ty\n",
    "last.csv": "1,good day\n" * 300 + "2,bad, very bad\n",
}


@pytest.mark.parametrize(
    ("name", "data"), OTHER_WIDTHS.items(), ids=OTHER_WIDTHS
)
def test_a_row_of_another_width_is_an_error_in_a_table_without_a_header(
    tmp_path, name, data
):
    with pytest.raises(ValueError, match=r"line \d+: the line has \d columns"):
        read_table_rows(tmp_path, name, data, has_header=False)


def test_a_row_of_another_width_is_an_error_if_flags_describe_the_table(
    tmp_path,
):
    data = "1,good day\n2,fine\n3,well\n4,bad, very bad\n"
    layout = {"delimiter": ",", "quoting": True, "has_header": False}
    with pytest.raises(ValueError, match=r"line 4: the line has 3 columns"):
        read_table_rows(tmp_path, "told.csv", data, **layout)


def test_rows_of_tabs_may_have_further_cells(tmp_path):
    data = "7\tA boat\n8\tA ship\tnews\n9\tA car\n"
    rows = read_table_rows(tmp_path, "sts.csv", data, has_header=False)
    assert [len(row) for row in rows] == [2, 3, 2]


def test_rows_of_all_widths_stay_rows_without_a_header(tmp_path):
    data = "sea,boat\nroad,car,van,bus\nair,plane,kite\nrail\n"
    rows = read_table_rows(tmp_path, "ragged.csv", data, has_header=False)
    assert [len(row) for row in rows] == [2, 4, 3, 1]


@pytest.mark.parametrize("name", ["old.csv", "locked.xlsx"])
def test_an_encrypted_workbook_is_to_be_saved_without_password(tmp_path, name):
    data = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
    with pytest.raises(ValueError, match=r"xlsx without a password"):
        read_table_rows(tmp_path, name, data)


TWO_CELLS = "".join(
    f'"It left at {i}, late",{"sea" * (i % 2)}\n' for i in range(9)
)


@pytest.mark.parametrize("above", [",\n,\n", "  \n\n", ",\n"])
@pytest.mark.parametrize("has_header", [None, True])
def test_empty_cells_above_the_names_are_skipped(tmp_path, above, has_header):
    data = above + "text,label\n" + TWO_CELLS
    rows = read_numbered_rows(tmp_path, "top.csv", data, has_header=has_header)
    number = above.count("\n") + 2
    assert rows[0] == (number, {"text": "It left at 0, late", "label": ""})


def test_a_second_mark_of_utf_8_is_not_part_of_the_name(tmp_path):
    (_, row), *_ = read_numbered_rows(
        tmp_path, "b.csv", "\ufeff\ufefftext,label\n" + TWO_CELLS
    )
    assert [*row] == ["text", "label"]


@pytest.mark.parametrize("has_header", [None, False])
def test_a_line_break_after_a_backslash_is_an_error(tmp_path, has_header):
    first = "0\tA boat left at noon\tsea\n"
    data = f"{first}1\tIt left\\\nlate\tsea\n2\tA car\tsea\n3\tA\tsea\n"
    with pytest.raises(ValueError, match=r"line 2: .*backslash.*2 columns.* 3"):
        read_numbered_rows(tmp_path, "o.tsv", data, has_header=has_header)


FORMS = [
    ("a.csv", 'id,text,label\n7,"a; b,\tc",x\n\n8,d,\n', [2, 4]),
    ("a.csv", '\n"id";text;label\n7;"a; b,\tc";x\n8;d;\n', [3, 4]),
    ("a.csv", 'id\ttext\tlabel\r\n7\t"a; b,\tc"\tx\r\n8\td\t\r\n', [2, 3]),
    ("a.tsv", 'id\ttext\tlabel\n7\t"a; b,\tc"\tx\n8\td\t\n', [2, 3]),
    ("a.tsv", 'id\ttext\tlabel\r7\t"a; b,\tc"\tx\r8\td\t\r', [2, 3]),
]


@pytest.mark.parametrize("compression", ["", ".gz"])
@pytest.mark.parametrize(("name", "text", "numbers"), FORMS)
def test_each_form_of_text_has_the_same_rows(
    tmp_path, name, text, numbers, compression
):
    path = write_table(tmp_path / (name + compression), text)
    assert [*read_rows(path)] == [
        (numbers[0], {"id": "7", "text": "a; b,\tc", "label": "x"}),
        (numbers[1], {"id": "8", "text": "d", "label": ""}),
    ]


@pytest.mark.parametrize("compression", ["", ".gz"])
def test_lines_of_json_are_rows_of_any_columns(tmp_path, compression):
    text = '\ufeff{"id": 7, "text": "a; b"}\n{"text": "d"}\n'
    path = write_table(tmp_path / f"a.jsonl{compression}", text)
    assert [*read_rows(path)] == [
        (1, {"id": 7, "text": "a; b"}),
        (2, {"text": "d"}),
    ]


def test_the_first_line_of_a_file_without_an_ending_may_show_json(tmp_path):
    path = write_table(tmp_path / "in", "\n{} \n")
    assert [*read_rows(path)] == [(2, {})]


@pytest.mark.parametrize(
    ("name", "text"), [("in", "\n the text\n\n"), ("a.txt", "\r\n{}\r\n")]
)
def test_each_line_of_text_is_a_row(tmp_path, name, text):
    """The answer to a line then has the number of the line."""
    rows = read_rows(write_table(tmp_path / name, text))
    assert [row["text"] for _, row in rows] == text.splitlines()


def test_columns_by_number_need_no_equal_rows(tmp_path):
    """STS-B of SentEval has two more columns in some rows."""
    data = 'm\t0.5\tOne.\tTwo.\nm\t1.0\t"A.\tB.\tsource one\tsource\n'
    layout = {"delimiter": "tab", "quoting": False, "has_header": False}
    rows = read_table_rows(tmp_path, "a.csv", data, **layout)
    assert [row["4"] for row in rows] == ["Two.", "B."]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", "text\ncaf\u00e9\nc\n"),
        ("a.txt", "text\ncaf\u00e9\nc\n"),
        ("a.jsonl", '{"text": "a"}\n{"text": "caf\u00e9"}\n{"text": "c"}\n'),
    ],
)
def test_a_row_in_latin_1_is_an_error_and_later_rows_are_read(
    tmp_path, name, data
):
    path = write_table(tmp_path / name, data.encode("latin-1"))
    *_, (number, error), last = read_rows(path)
    assert number == 2
    assert "iconv" in str(error)
    assert last == (3, {"text": "c"})


def test_a_table_with_a_malformed_row_is_read_by_its_flags(tmp_path):
    path = write_table(tmp_path / "a.tsv", 'text\tlabel\n"a\tx\nb\n"c"\ty\n')
    rows = [row for _, row in read_rows(path, TableLayout(quoting=False))]
    assert rows[0] == {"text": '"a', "label": "x"}
    assert isinstance(rows[1], ValueError)
    assert rows[2] == {"text": '"c"', "label": "y"}


def test_a_bad_row_is_an_error_of_its_own(tmp_path):
    data = b'id,text\n1,a\n2\n3,"a" b\n4,\xff\n5,b\n'
    rows = dict(read_rows(write_table(tmp_path / "a.csv", data)))
    assert [rows[number]["text"] for number in (2, 6)] == ["a", "b"]
    assert [type(rows[number]) for number in (3, 4, 5)] == [ValueError] * 3


def test_a_cell_may_be_longer_than_the_limit_of_csv(tmp_path):
    text = "b " * 100_000
    path = write_table(tmp_path / "a.csv", f'text\n"{text}"\n')
    assert [*read_rows(path)] == [(2, {"text": text})]
