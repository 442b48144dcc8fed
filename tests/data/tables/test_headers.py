"""Tables whose first line names the columns, is a row, or may be either.

Where nothing tells, an error asks for --has_header.
"""

import re

import pytest

from data.tables import headers
from tests.support.tables.table_rows import read_numbered_rows, read_table_rows

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
    with pytest.raises(
        ValueError, match="nothing tells whether the first line names"
    ):
        read_table_rows(tmp_path, name, data)


@pytest.mark.parametrize("name", NUMBERS_AS_NAMES)
def test_numbers_are_names_if_the_user_says_so(tmp_path, name):
    data = NUMBERS_AS_NAMES[name]
    names = [*read_table_rows(tmp_path, name, data, has_header=True)[0]]
    assert names == re.split("[,;]", data.splitlines()[0])


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
    assert len(read_table_rows(tmp_path, name, data)) == 3


@pytest.mark.parametrize(
    "lines",
    [
        "Region,Code,2019,2020\nNorth,7,1.5,2.5\nSouth,8,3.1,2\n",
        "Name,1,2\nAnna,15,17\nBert,12,11\n",
    ],
)
def test_numbers_beside_a_name_are_names(tmp_path, lines):
    names = [*read_table_rows(tmp_path, "table.csv", lines)[0]]
    assert names == lines.splitlines()[0].split(",")


def test_long_names_above_numbers_are_names(tmp_path):
    data = "How old are you in years?,Height\n35,170\n34,165\n"
    names = [*read_table_rows(tmp_path, "long.csv", data)[0]]
    assert names == ["How old are you in years?", "Height"]


DATES = ["2026-01-31 2026-02-01", "1/31/2026 2/1/2026", "31.1.2026 1.2.26"]


def rows_of_dates(dates):
    """Returns rows of a name and one of two dates."""
    first, second = dates.split()
    return f"Anna,{first}\nBert,{second}\nCarl,{first} 10:05:00\n"


@pytest.mark.parametrize("dates", DATES)
def test_a_word_above_dates_is_a_name(tmp_path, dates):
    data = "Person,Born\n" + rows_of_dates(dates)
    names = [*read_table_rows(tmp_path, "dates.csv", data)[0]]
    assert names == ["Person", "Born"]


@pytest.mark.parametrize("dates", DATES)
def test_a_missing_date_above_dates_asks_for_the_header(tmp_path, dates):
    data = "Carl,-\n" + rows_of_dates(dates)
    with pytest.raises(
        ValueError, match="nothing tells whether the first line names"
    ):
        read_table_rows(tmp_path, "dates.csv", data)


def test_a_cell_for_a_missing_number_is_not_a_name(tmp_path):
    data = "NA,Nice one\n" + "".join(f"{i % 3},It is {i}\n" for i in range(9))
    with pytest.raises(
        ValueError, match="nothing tells whether the first line names"
    ):
        read_numbered_rows(tmp_path, "na.csv", data)


def test_a_label_named_as_its_column_asks_for_the_header(tmp_path):
    labels = ["Spam", "Ham"]
    rows = (f"Da war ein Boot {i},{labels[i % 2]}\n" for i in range(9))
    with pytest.raises(
        ValueError, match="nothing tells whether the first line names"
    ):
        read_numbered_rows(
            tmp_path, "spam.csv", "Meldung,Spam\n" + "".join(rows)
        )


MAY_BE_NAMES = {
    "empty.csv": "a,b,c,,\na,,,,\n,,c,\n,,,,\n",
    "short.csv": "a,b,c\n1,cat\ndog,c\n3,b,c\n",
    "labels.csv": "Nomen\nVerb\nNomen\nVerb\nNomen\n",
    "words.csv": "Wort,Nomen\ngehen,Verb\nHaus,Nomen\nBoot,Nomen\nist,Verb\n",
}


@pytest.mark.parametrize("name", MAY_BE_NAMES)
def test_a_name_that_is_a_value_too_asks_for_the_header(tmp_path, name):
    with pytest.raises(
        ValueError, match="nothing tells whether the first line names"
    ):
        read_numbered_rows(tmp_path, name, MAY_BE_NAMES[name])


ROWS_FIRST = {
    "numbers.tsv": "7\tsea\n8\troad\n9\tsea\n",
    "text.tsv": "sea\tA boat left at noon\nroad\tA car\nsea\tIt sank\n",
    "again.csv": "It left at noon today\nA car\nIt left at noon today\n",
}


@pytest.mark.parametrize("name", ROWS_FIRST)
def test_a_value_beside_a_number_or_text_is_no_name(tmp_path, name):
    assert len(read_numbered_rows(tmp_path, name, ROWS_FIRST[name])) == 3


@pytest.mark.parametrize(
    ("records", "is_header"),
    [
        ([["text", "price"], ["It left.", "10"]], True),
        ([["kind"], ["ham"], ["spam"], ["ham"], ["spam"]], True),
        ([["title"], ["A boat"], ["A car"]], True),
        ([["7", "sea"], ["8", "road"]], False),
        ([["It left at noon again.", "sea"], ["It sank.", "sea"]], False),
    ],
)
def test_the_first_rule_that_fits_decides(records, is_header):
    assert headers.has_header("f.csv", records, ()) == is_header


@pytest.mark.parametrize(
    "records",
    [
        [["price", "sea"], ["10", "sea"]],
        [["remark", "7"], *([f"It left at {i}", str(i)] for i in range(4))],
        [["spam"], ["spam"]],
        [["boat"], ["car"]],
    ],
)
def test_records_that_may_be_either_ask_for_the_header(records):
    with pytest.raises(ValueError, match=r"f\.csv: nothing tells whether"):
        headers.has_header("f.csv", records, ())


def test_a_column_that_the_user_chose_is_a_usual_name():
    assert not headers.is_usual_name("satz")
    assert headers.is_usual_name("satz", ["satz"])


@pytest.mark.parametrize("cell", ["7", " -1.5 ", "1,000.50", "12%", "2e-5"])
def test_a_number_may_have_a_sign_marks_and_an_exponent(cell):
    assert headers.is_number(cell)


@pytest.mark.parametrize("cell", ["", ".", "7 seas", "2026-01-31", "e5"])
def test_other_cells_are_no_numbers(cell):
    assert not headers.is_number(cell)


def test_names_repeat_after_the_mark_of_utf_8_of_a_joined_file():
    assert headers.repeats_names(["\ufefftext", "label"], ["text", "label"])


def test_one_name_that_repeats_may_be_a_value():
    assert not headers.repeats_names(["text"], ["text"])
