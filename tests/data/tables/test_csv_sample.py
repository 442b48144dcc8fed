"""The first lines of CSV, which show how it is written."""

import itertools

import pytest

from data.tables.csv_sample import MAX_ROWS, CsvSample, Dialect

COMMAS = Dialect(",")


def sample_of(text):
    """Returns the sample of a table's contents."""
    return CsvSample("f.csv", iter(text.splitlines(keepends=True)))


def test_no_more_lines_are_read_than_rows_are_needed():
    lines = (f"{number},a\n" for number in itertools.count())
    sample = CsvSample("f.csv", lines)
    assert len(sample.read_first_rows(COMMAS)) == MAX_ROWS
    assert next(lines) == f"{MAX_ROWS},a\n"


def test_lines_are_read_once_for_several_dialects():
    sample = sample_of("a,b;c\n")
    assert sample.read_first_rows(COMMAS) == [["a", "b;c"]]
    assert sample.read_first_rows(Dialect(";")) == [["a,b", "c"]]


def test_all_lines_are_the_lines_read_before_and_the_rest():
    lines = [f"{number},a\n" for number in range(MAX_ROWS + 3)]
    sample = CsvSample("f.csv", iter(lines))
    sample.read_first_rows(COMMAS)
    assert [*sample.all_lines()] == lines


def test_empty_rows_above_a_table_are_left_out():
    assert sample_of(",\n\na,b\n").read_first_rows(COMMAS) == [["a", "b"]]


@pytest.mark.parametrize(
    ("text", "dialect", "fits"),
    [
        pytest.param("a,b\n1,2\n", COMMAS, True, id="one width"),
        pytest.param("a,b\n1\n", COMMAS, False, id="two widths"),
        pytest.param('a,b\n1,"2\n', COMMAS, False, id="an open quote"),
        pytest.param(
            'a,b\n1,"a ""2"""\n', Dialect(",", False), False, id="doubled"
        ),
        pytest.param('a,b\n1,"2"\n', Dialect(",", False), True, id="single"),
    ],
)
def test_a_dialect_fits_if_all_rows_are_regular(text, dialect, fits):
    assert sample_of(text).try_dialect(dialect).does_fit == fits


@pytest.mark.parametrize("line", ["sep=;\n", '"SEP=;"\n'])
def test_take_hint_returns_the_delimiter_of_a_sep_line(line):
    sample = sample_of(f"{line}a;b\n")
    assert sample.take_hint(",;") == ";"
    assert sample.read_first_rows(Dialect(";")) == [["a", "b"]]


@pytest.mark.parametrize("line", ["sep=x\n", "sep;\n", "a;b\n", ""])
def test_another_first_line_names_no_delimiter(line):
    assert sample_of(line).take_hint(",;") is None


def test_the_line_of_wrong_bytes_is_named():
    sample = sample_of("a,b\nna\udcefve,2\n")
    sample.read_first_rows(COMMAS)
    with pytest.raises(ValueError, match=r"^f\.csv, line 2: "):
        sample.check_encoding(None)


@pytest.mark.parametrize(
    ("text", "num_stray"),
    [
        ('"a","b"\n', 0),
        ('a 5" pipe,b\n', 1),
        ('"a ""b""",c\n', 0),
        ('x "a",b\n', 2),
    ],
)
def test_quotes_that_quote_no_cell_are_stray(text, num_stray):
    sample = sample_of(text)
    sample.read_first_rows(COMMAS)
    assert sample.count_stray_quotes(COMMAS) == num_stray
