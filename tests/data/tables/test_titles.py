"""Titles above a table, and rows that only look like one."""

import pytest

from data.tables.titles import check_title
from tests.support.tables.table_rows import read_numbered_rows, read_table_rows


def test_a_number_above_numbers_is_no_title(tmp_path):
    rows = read_table_rows(tmp_path, "rows.csv", "1,\n2,!\n3,?\n")
    assert [*map(list, map(dict.values, rows))][:2] == [["1", ""], ["2", "!"]]


def test_a_row_that_is_filled_like_others_is_no_title(tmp_path):
    data = "I like it,\nthis is bad,neg\nso so,\nthis is good,pos\n"
    with pytest.raises(ValueError, match="nothing tells whether"):
        read_table_rows(tmp_path, "rows.csv", data)


def test_the_error_about_a_title_names_the_flag_for_a_row(tmp_path):
    data = "I like it,\nthis is bad,neg\n"
    with pytest.raises(ValueError, match=r"title.*--nohas_header"):
        read_table_rows(tmp_path, "like.csv", data)


def test_the_flag_that_the_error_names_reads_the_row(tmp_path):
    data = "I like it,\nthis is bad,neg\n"
    rows = read_table_rows(tmp_path, "like.csv", data, has_header=False)
    assert rows[0] == {"1": "I like it", "2": ""}


@pytest.mark.parametrize("above", [",,\n", ""])
@pytest.mark.parametrize("below", ["of May,,\n,,\n", ""])
def test_a_title_beside_empty_cells_is_an_error(tmp_path, above, below):
    rows = "id,text,label\n1,a,b\n2,c,d\n3,e,f\n"
    data = f"{above}Some report,,\n{below}{rows}"
    with pytest.raises(ValueError, match=r"'Some report'.* a title"):
        read_numbered_rows(tmp_path, "top.csv", data)


def test_names_that_are_one_too_few_are_no_title(tmp_path):
    rows = "".join(f'"{i}"\t"A boat {i}"\t"sea"\n' for i in range(4))
    with pytest.raises(ValueError, match=r"has 2 cells.* 3 columns"):
        read_numbered_rows(tmp_path, "r.tsv", '"text"\t"label"\n' + rows)


def test_a_line_narrower_than_the_table_is_a_title():
    rows = [["Export of May"], ["id", "text"], ["1", "a"], ["2", "b"]]
    with pytest.raises(ValueError, match=r"f\.csv: .*'Export of May'"):
        check_title("f.csv", rows)


@pytest.mark.parametrize("columns", [(), ("satz",)])
def test_a_name_of_a_column_is_no_title(columns):
    name = "satz" if columns else "text"
    check_title("f.csv", [[name], ["1", "a"], ["2", "b"]], columns)


def test_a_row_alone_is_no_title():
    check_title("f.csv", [["Export of May", ""]])
