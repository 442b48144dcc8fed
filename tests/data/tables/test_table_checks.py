"""Files and lines that look like rows of a table, and are none.

Tools write them: exports of data miners, databases and spreadsheets, downloads
that went wrong. Each is skipped where that is safe, and otherwise an error that
says what it is.

data/tables/headers.py and data/tables/table_checks.py decide it from the first
lines.
"""

import pytest

from tests.support.table_rows import read_table

ROWS = "".join(f'"It left at {i}, late",{"sea" * (i % 2)}\n' for i in range(9))


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


@pytest.mark.parametrize("name", SECOND_NAMES)
@pytest.mark.parametrize("has_header", [None, True])
def test_a_second_line_of_names_is_an_error(tmp_path, name, has_header):
    with pytest.raises(ValueError, match="a second line of names"):
        read_table(tmp_path, name, SECOND_NAMES[name], has_header=has_header)


RULERS = {
    "psql.csv": " id | text\n----+------\n  1 | A boat\n  2 | A car\n",
    "page.csv": "| text | label |\n|---|:--|\n| A | b |\n| C | d |\n",
    "frame.csv": "------\n|id|text|\n------\n|1|A boat|\n|2|A car|\n------\n",
    "plus.csv": "+----+------+\n| id | text |\n+----+------+\n| 1 | A |\n",
}


@pytest.mark.parametrize("name", RULERS)
def test_a_line_drawn_around_the_names_is_an_error(tmp_path, name):
    with pytest.raises(ValueError, match="is drawn"):
        read_table(tmp_path, name, RULERS[name])


OTHER_MARKS = {"\x01": "x01", "^": r"\^", "::": "::", "    ": "  "}


@pytest.mark.parametrize("mark", OTHER_MARKS)
def test_other_marks_between_cells_are_an_error(tmp_path, mark):
    rows = [["text", "label"], ["A boat", "sea"], ["It left", "x"], ["C", "x"]]
    data = "".join(mark.join(row) + "\n" for row in rows)
    with pytest.raises(ValueError, match=OTHER_MARKS[mark] + ".*tab"):
        read_table(tmp_path, "marks.csv", data)


@pytest.mark.parametrize("end", ["", ";"])
def test_lines_that_are_quoted_as_a_whole_are_an_error(tmp_path, end):
    lines = [f'"""A boat, {i}"",sea"{end}\n' for i in range(4)]
    data = "".join([f"text,label{end}\n", *lines])
    with pytest.raises(ValueError, match="quoted as a whole"):
        read_table(tmp_path, "whole.csv", data)


def test_quoted_texts_of_one_column_stay_texts(tmp_path):
    data = "text\n" + '"Well, yes"\n' * 5
    assert read_table(tmp_path, "texts.csv", data)[0] == (
        2,
        {"text": "Well, yes"},
    )
    data = "".join(f'"Well, yes {i}"\n' for i in range(5))
    rows = read_table(tmp_path, "texts.csv", data, has_header=False)
    assert rows[0] == (1, {"1": "Well, yes 0"})


def test_the_flag_that_an_error_names_reads_one_column(tmp_path):
    data = "name\n" + "".join(f"std::set_{i}\n" for i in range(5))
    data = data.replace("name", "boost::name")
    with pytest.raises(ValueError, match="--delimiter=tab"):
        read_table(tmp_path, "names.csv", data)
    layout = {"delimiter": "tab", "has_header": True}
    rows = read_table(tmp_path, "names.csv", data, **layout)
    assert rows[0] == (2, {"boost::name": "std::set_0"})


def test_answers_of_one_letter_are_rows(tmp_path):
    data = "question,answer\nd,s\nc,m\nt,d\n"
    assert len(read_table(tmp_path, "answers.csv", data)) == 3


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


@pytest.mark.parametrize("name", NO_TABLES)
def test_a_file_that_is_no_table_is_named(tmp_path, name):
    data, words = NO_TABLES[name]
    with pytest.raises(ValueError, match=words):
        read_table(tmp_path, name, data)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [",", ";"])
def test_the_line_that_tells_excel_the_mark_is_read(tmp_path, mark, end):
    data = f"sep={mark}\ntext{mark}label\n" + ROWS.replace('",', f'"{mark}')
    data = data.replace("\n", end)
    rows = read_table(tmp_path, "excel.csv", "\ufeff" + data)
    assert rows[1] == (4, {"text": "It left at 1, late", "label": "sea"})
    assert len(rows) == 9


@pytest.mark.parametrize("above", [",\n,\n", "  \n\n", ",\n"])
@pytest.mark.parametrize("has_header", [None, True])
def test_empty_cells_above_the_names_are_skipped(tmp_path, above, has_header):
    data = above + "text,label\n" + ROWS
    rows = read_table(tmp_path, "top.csv", data, has_header=has_header)
    number = above.count("\n") + 2
    assert rows[0] == (number, {"text": "It left at 0, late", "label": ""})


@pytest.mark.parametrize("above", [",,\n", ""])
@pytest.mark.parametrize("below", ["of May,,\n,,\n", ""])
def test_a_title_beside_empty_cells_is_an_error(tmp_path, above, below):
    rows = "id,text,label\n1,a,b\n2,c,d\n3,e,f\n"
    data = f"{above}Some report,,\n{below}{rows}"
    with pytest.raises(ValueError, match=r"'Some report'.* a title"):
        read_table(tmp_path, "top.csv", data)


def test_names_that_are_one_too_few_are_no_title(tmp_path):
    rows = "".join(f'"{i}"\t"A boat {i}"\t"sea"\n' for i in range(4))
    with pytest.raises(ValueError, match=r"has 2 cells.* 3 columns"):
        read_table(tmp_path, "r.tsv", '"text"\t"label"\n' + rows)


def test_a_second_mark_of_utf_8_is_no_part_of_the_name(tmp_path):
    (_, row), *_ = read_table(
        tmp_path, "b.csv", "\ufeff\ufefftext,label\n" + ROWS
    )
    assert [*row] == ["text", "label"]


@pytest.mark.parametrize("has_header", [None, False])
def test_a_line_break_after_a_backslash_is_an_error(tmp_path, has_header):
    first = "0\tA boat left at noon\tsea\n"
    data = f"{first}1\tIt left\\\nlate\tsea\n2\tA car\tsea\n3\tA\tsea\n"
    with pytest.raises(ValueError, match=r"line 2: .*backslash.*2 columns.* 3"):
        read_table(tmp_path, "o.tsv", data, has_header=has_header)


WRONG_BYTES = {
    "names.csv": "Мнение,Жизнь\nЧтили 1,годно 1\nЧтили 2,годно 2\n",
    "names_only.csv": "Мнение,text\nAnna,hello\nBert,good day\n",
    "mark.csv": "a;Ладный,1\nb;Зря,2\n",
}


@pytest.mark.parametrize("name", WRONG_BYTES)
def test_the_error_about_the_encoding_comes_first(tmp_path, name):
    data = WRONG_BYTES[name].encode("cp1251")
    with pytest.raises(ValueError, match=r"line 1: .*--encoding=cp1251"):
        read_table(tmp_path, name, data)


def test_the_word_of_wrong_bytes_is_one_of_the_file(tmp_path):
    data = "text,place\nDas war,München\n".encode("cp1252")
    with pytest.raises(ValueError, match="'München' in cp1252"):
        read_table(tmp_path, "words.csv", data)


def test_an_error_contains_no_letter_that_cannot_be_printed(tmp_path):
    data = '"text" "label"\n"1" "A boat" "sea"\n"2" "A car"\n'
    with pytest.raises(ValueError, match="Close the quote") as raised:
        read_table(tmp_path, "blanks.csv", data, has_header=True)
    assert str(raised.value).encode()


def test_a_cell_for_a_missing_number_is_not_a_name(tmp_path):
    data = "NA,Nice one\n" + "".join(f"{i % 3},It is {i}\n" for i in range(9))
    with pytest.raises(ValueError, match="--has_header"):
        read_table(tmp_path, "na.csv", data)


def test_a_label_named_as_its_column_asks_for_the_header(tmp_path):
    labels = ["Spam", "Ham"]
    rows = (f"Da war ein Boot {i},{labels[i % 2]}\n" for i in range(9))
    with pytest.raises(ValueError, match="--has_header"):
        read_table(tmp_path, "spam.csv", "Meldung,Spam\n" + "".join(rows))


MAY_BE_NAMES = {
    "empty.csv": "a,b,c,,\na,,,,\n,,c,\n,,,,\n",
    "short.csv": "a,b,c\n1,cat\ndog,c\n3,b,c\n",
    "labels.csv": "Nomen\nVerb\nNomen\nVerb\nNomen\n",
    "words.csv": "Wort,Nomen\ngehen,Verb\nHaus,Nomen\nBoot,Nomen\nist,Verb\n",
}


@pytest.mark.parametrize("name", MAY_BE_NAMES)
def test_a_name_that_is_a_value_too_asks_for_the_header(tmp_path, name):
    with pytest.raises(ValueError, match="--has_header"):
        read_table(tmp_path, name, MAY_BE_NAMES[name])


ROWS_FIRST = {
    "numbers.tsv": "7\tsea\n8\troad\n9\tsea\n",
    "text.tsv": "sea\tA boat left at noon\nroad\tA car\nsea\tIt sank\n",
    "again.csv": "It left at noon today\nA car\nIt left at noon today\n",
}


@pytest.mark.parametrize("name", ROWS_FIRST)
def test_a_value_beside_a_number_or_text_is_no_name(tmp_path, name):
    assert len(read_table(tmp_path, name, ROWS_FIRST[name])) == 3
