"""Tables that a reader of cells and marks may read wrong in silence.

Each is read right, or an error says what is wrong and what to do.

data/tables/headers.py decides whether the first line is a row.
data/tables/titles.py tells a title from both.
"""

import pytest

from tests.support import table_rows


def read(tmp_path, name, data, **layout):
    return [
        row for _, row in table_rows.read_table(tmp_path, name, data, **layout)
    ]


NUMBERS_AS_NAMES = {
    "years.csv": "Region,2019,2020\nNorth,12.5,13.1\nSouth,9.2,8.8\n",
    "year.csv": "Country,2013\nCanada,35160000\n",
    "backward.csv": "Region;2021;2020\nNorth;12;13\nSouth;9;8\n",
    "pandas.csv": ",0,1,2\n0,0.5,0.7,0.1\n",
    "series.csv": ",0\n0,0.5\n1,0.7\n",
    "ages.csv": "Country,0,5,10,15\nPeru,1.5,2.5,7.1,8\nChad,9,8,2,1\n",
    "floats.csv": "Country,2013.0,2014.0\nPeru,7.5,8.5\nChad,9.5,1.5\n",
    "only_years.csv": "2019,2020,2021\n12.5,13.1,8.5\n9.5,8.5,7.5\n",
    "range.csv": "0,1,2\n0.5,0.7,0.1\n0.1,0.2,0.3\n",
    "text.csv": ",0,1\n0,Good day,0.7\n1,Bad day,0.5\n",
}


@pytest.mark.parametrize("name", NUMBERS_AS_NAMES)
def test_numbers_that_may_be_names_ask_for_the_header(tmp_path, name):
    data = NUMBERS_AS_NAMES[name]
    with pytest.raises(ValueError, match="--has_header"):
        read(tmp_path, name, data)
    names = [*read(tmp_path, name, data, has_header=True)[0]]
    assert len(names) > 1
    assert "1" not in names[:1]


NUMBERS_IN_ROWS = {
    "born.csv": "Anna,1983\nBert,1990\nCarl,1975\n",
    "sold.csv": "Anna,2019,12\nBert,35,14\nCarl,8,3\n",
    "dates.csv": "Anna,2026-01-31\nBert,2026-02-01\nCarl,2026-02-02\n",
    "label.csv": "0,A boat left\n1,The car went\n0,It rained\n",
    "tweet.tsv": "264\tgood\tGas\n265\tbad\tTheo\n266\tgood\tJane\n",
}


@pytest.mark.parametrize("name", NUMBERS_IN_ROWS)
def test_other_numbers_above_numbers_are_rows(tmp_path, name):
    data = NUMBERS_IN_ROWS[name]
    assert len(read(tmp_path, name, data)) == 3


def test_numbers_beside_a_name_are_names(tmp_path):
    data = "Region,Code,2019,2020\nNorth,7,1.5,2.5\nSouth,8,3.1,2\n"
    names = [*read(tmp_path, "codes.csv", data)[0]]
    assert names == ["Region", "Code", "2019", "2020"]
    data = "Name\t1\t2\nAnna\t15\t17\nBert\t12\t11\n"
    assert [*read(tmp_path, "grades.tsv", data)[0]] == ["Name", "1", "2"]


def test_blanks_before_quotes_are_read_beside_escaped_quotes(tmp_path):
    data = 'Name, Country\n"A \\"B\\" C", "JAM"\n"D", "USA, NY"\n'
    rows = read(tmp_path, "blanks.csv", data, has_header=True)
    assert rows == [
        {"Name": 'A "B" C', "Country": "JAM"},
        {"Name": "D", "Country": "USA, NY"},
    ]


def test_quotes_that_stay_after_blanks_are_an_error(tmp_path):
    data = 'text, label\nA boat, "sea"\nA car, "road"\nA pram, "road"\n'
    layout = {"quoting": True, "delimiter": ","}
    with pytest.raises(ValueError, match=r"' \"sea\"'.* blank before"):
        read(tmp_path, "blanks.csv", data, **layout)
    layout = {"quoting": False}
    rows = read(tmp_path, "blanks.csv", data, has_header=True, **layout)
    assert rows[0][" label"] == ' "sea"'


OTHER_WIDTHS = {
    "one_more.csv": "1,good day\n2,bad, very bad\n3,fine\n",
    "of_two.csv": "1,good day\n2,bad, very bad\n",
    "one_less.tsv": "1\tgood\tx\n2\tbad\n3\tfine\ty\n",
    "last.csv": "1,good day\n" * 300 + "2,bad, very bad\n",
}


@pytest.mark.parametrize("name", OTHER_WIDTHS)
def test_another_width_is_an_error_without_a_header(tmp_path, name):
    with pytest.raises(ValueError, match=r"line \d+: the line has \d columns"):
        read(tmp_path, name, OTHER_WIDTHS[name], has_header=False)


def test_another_width_is_an_error_if_flags_describe_the_table(tmp_path):
    data = "1,good day\n2,fine\n3,well\n4,bad, very bad\n"
    layout = {"delimiter": ",", "quoting": True, "has_header": False}
    with pytest.raises(ValueError, match=r"line 4: the line has 3 columns"):
        read(tmp_path, "told.csv", data, **layout)


def test_rows_of_tabs_may_have_further_cells(tmp_path):
    data = "7\tA boat\n8\tA ship\tnews\n9\tA car\n"
    rows = read(tmp_path, "sts.csv", data, has_header=False)
    assert [len(row) for row in rows] == [2, 3, 2]


def test_rows_of_all_widths_stay_rows_without_a_header(tmp_path):
    data = "sea,boat\nroad,car,van,bus\nair,plane,kite\nrail\n"
    rows = read(tmp_path, "ragged.csv", data, has_header=False)
    assert [len(row) for row in rows] == [2, 4, 3, 1]


APOSTROPHES = {
    "names.csv": "'text','label'\ngood day,pos\n",
    "commas.csv": "'text','label'\n'a, b','x'\n'c, d','y'\n",
    "blanks.csv": "'text', 'label'\n'a', 'x'\n'c', 'y'\n",
    "cells.csv": "text;label\n'a, b';'x'\n'c, d';'y'\n'e';'x'\n",
    "texts.csv": "text,label\n'a b',1\n'c d',2\n'e f',1\n",
    "rows.csv": "'a b','x'\n'c d','y'\n'e f','x'\n",
}


@pytest.mark.parametrize("name", APOSTROPHES)
@pytest.mark.parametrize("has_header", [None, True])
def test_apostrophes_around_cells_are_an_error(tmp_path, name, has_header):
    with pytest.raises(ValueError, match="apostrophes"):
        read(tmp_path, name, APOSTROPHES[name], has_header=has_header)


def test_apostrophes_within_texts_are_read(tmp_path):
    data = "text,label\n'Tis nice,x\n'No' means no,y\nThe cats',x\n"
    assert len(read(tmp_path, "texts.csv", data)) == 3
    data = "'text','label'\na,x\nb,y\n"
    layout = {"has_header": True, "quoting": False}
    rows = read(tmp_path, "names.csv", data, **layout)
    assert rows[0] == {"'text'": "a", "'label'": "x"}


SINGLE_BLANKS = {
    "numbers.csv": "t status sex\n35 0 1\n34 1 1\n",
    "quoted.csv": '"t" "status"\n"a b" 0\n',
    "r.csv": '"t" "status"\n"1" "a b" "x"\n"2" "c" "y"\n',
    "pairs.tsv": "name age\nAnna 35\nBert 36\nCarl 12\n",
}


@pytest.mark.parametrize("name", SINGLE_BLANKS)
@pytest.mark.parametrize("has_header", [None, True, False])
def test_single_blanks_between_cells_are_an_error(tmp_path, name, has_header):
    data = SINGLE_BLANKS[name]
    with pytest.raises(ValueError, match="' ' seems to be the mark"):
        read(tmp_path, name, data, has_header=has_header)


ONE_COLUMN = {
    "texts.csv": "text\ngood day\nbad day\n",
    "times.csv": "time\n2026-01-31 10:00\n2026-01-31 11:00\n",
    "titles.csv": "title\n12 monkeys\nToy story\nSome like it hot\n",
}


@pytest.mark.parametrize("name", ONE_COLUMN)
def test_texts_with_blanks_are_one_column(tmp_path, name):
    rows = read(tmp_path, name, ONE_COLUMN[name], has_header=True)
    assert {len(row) for row in rows} == {1}


def test_a_number_above_numbers_is_no_title(tmp_path):
    rows = read(tmp_path, "rows.csv", "1,\n2,!\n3,?\n")
    assert [*map(list, map(dict.values, rows))][:2] == [["1", ""], ["2", "!"]]


def test_a_row_that_is_filled_like_others_is_no_title(tmp_path):
    data = "I like it,\nthis is bad,neg\nso so,\nthis is good,pos\n"
    with pytest.raises(ValueError, match="nothing tells whether"):
        read(tmp_path, "rows.csv", data)


def test_what_seems_to_be_a_title_may_be_a_row(tmp_path):
    data = "I like it,\nthis is bad,neg\n"
    with pytest.raises(ValueError, match=r"title.*--nohas_header"):
        read(tmp_path, "like.csv", data)
    rows = read(tmp_path, "like.csv", data, has_header=False)
    assert rows[0] == {"1": "I like it", "2": ""}


@pytest.mark.parametrize("name", ["old.csv", "locked.xlsx"])
def test_an_encrypted_workbook_is_to_be_saved_without_password(tmp_path, name):
    data = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
    with pytest.raises(ValueError, match=r"xlsx without a password"):
        read(tmp_path, name, data)


def test_long_names_above_numbers_are_names(tmp_path):
    data = "How old are you in years?,Height\n35,170\n34,165\n"
    names = [*read(tmp_path, "long.csv", data)[0]]
    assert names == ["How old are you in years?", "Height"]


@pytest.mark.parametrize(
    "dates", ["2026-01-31 2026-02-01", "1/31/2026 2/1/2026", "31.1.2026 1.2.26"]
)
def test_a_word_above_dates_is_a_name(tmp_path, dates):
    first, second = dates.split()
    rows = f"Anna,{first}\nBert,{second}\nCarl,{first} 10:05:00\n"
    names = [*read(tmp_path, "dates.csv", "Person,Born\n" + rows)[0]]
    assert names == ["Person", "Born"]
    with pytest.raises(ValueError, match="--has_header"):
        read(tmp_path, "dates.csv", f"Carl,-\n{rows}")
