"""Tables whose rows a caller reads, and whose columns it checks."""

import gzip

import numpy as np
import pytest

from data.tables.table_layout import TableLayout
from data.tables.tables import Table, read_table
from tests.support.tables.table_rows import write_table


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
