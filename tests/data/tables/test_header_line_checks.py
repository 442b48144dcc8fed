"""Titles and second names around a header, and rows that look like them."""

import pytest

from data.tables.header_line_checks import check_title
from tests.support.tables.table_rows import read_numbered_rows, read_table_rows


def test_a_number_above_numbers_is_not_a_title(tmp_path):
    rows = read_table_rows(tmp_path, "rows.csv", "1,\n2,!\n3,?\n")
    assert [*map(list, map(dict.values, rows))][:2] == [["1", ""], ["2", "!"]]


def test_a_first_row_as_full_as_the_others_is_not_a_title(tmp_path):
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


def test_a_header_that_lacks_one_name_is_not_a_title(tmp_path):
    rows = "".join(f'"{i}"\t"A boat {i}"\t"sea"\n' for i in range(4))
    with pytest.raises(ValueError, match=r"has 2 cells.* 3 columns"):
        read_numbered_rows(tmp_path, "r.tsv", '"text"\t"label"\n' + rows)


def test_a_line_narrower_than_the_table_is_a_title():
    rows = [["Export of May"], ["id", "text"], ["1", "a"], ["2", "b"]]
    with pytest.raises(ValueError, match=r"f\.csv: .*'Export of May'"):
        check_title("f.csv", rows, ())


@pytest.mark.parametrize("columns", [(), ("satz",)])
def test_the_name_of_the_only_column_is_not_a_title(columns):
    name = "satz" if columns else "text"
    check_title("f.csv", [[name], ["1", "a"], ["2", "b"]], columns)


def test_the_only_row_of_a_table_is_not_a_title():
    check_title("f.csv", [["Export of May", ""]], ())


SECOND_NAMES = {
    "types_and_flags.tab": "Category\tText\nd\tstring\nclass\t\nsea\tA boat\n",
    "flags_in_one.tab": "Title\tText\nstring\tstring\n\tinclude=True\nA\tb\n",
    "values.tab": "Role\tUse\tWhen\na\\ b c\tx y\ttime\n\t\tmeta\na b\tx\t1\n",
    "weights.tab": "a\tw\tg\nd\tc\tyes no\nclass\tweight\t\nx\t1\tno\n",
    "roles.tab": "a\tb\tc\nd\t1 0\ts\nm\t\tm\n\n",
    "letters.tab": "gender\tname\nd\ts\n\nf\tAnn\nm\tJose\n",
    "types.csv": "text,score\nvarchar,int\nA boat,1\nA car,2\n",
    "two_levels.csv": ",reviews,reviews\n,text,label\n0,A boat,sea\n1,A,b\n",
}


@pytest.mark.parametrize(
    ("name", "data"), SECOND_NAMES.items(), ids=SECOND_NAMES
)
@pytest.mark.parametrize("has_header", [None, True])
def test_a_second_line_of_names_is_an_error(tmp_path, name, data, has_header):
    with pytest.raises(ValueError, match="a second line of names"):
        read_numbered_rows(tmp_path, name, data, has_header=has_header)


def test_rows_of_one_letter_are_not_taken_for_names(tmp_path):
    data = "question,answer\nd,s\nc,m\nt,d\n"
    assert len(read_numbered_rows(tmp_path, "answers.csv", data)) == 3
