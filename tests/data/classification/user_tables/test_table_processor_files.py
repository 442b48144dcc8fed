"""Which lines of a table are examples, and which line an error names.

As in all test_table_processor_*.py, `labeled_tables` lets a task of tables
create the TableReader, by the flags that a user sets.
"""

import pytest

from tests.support.tables.labeled_tables import (
    read_examples,
    write_train_set,
)


def test_a_csv_may_have_quotes_a_byte_order_mark_and_dos_line_ends(tmp_path):
    text = (
        '\ufefflabel,id,text\r\nno,1,"a, ""b"""\r\n\r\n'
        'yes,2,"c\nd"\r\nno,3,café'
    )
    assert read_examples(tmp_path, "train.csv", text) == [
        ("train-1", 'a, "b"', None, "no"),
        ("train-2", "c\nd", None, "yes"),
        ("train-3", "café", None, "no"),
    ]


# A quote opens in one line and closes in another.
QUOTED_TEXT = 'text\tlabel\n"a\tyes\nb"\tno\nc\tyes\n'


def test_a_quote_that_contains_the_next_lines_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="line 2: a quoted cell"):
        read_examples(tmp_path, "train.tsv", QUOTED_TEXT)


def test_without_quoting_a_quote_is_a_letter(tmp_path):
    first, *_ = read_examples(tmp_path, "train.tsv", QUOTED_TEXT, quoting=False)
    assert first == ("train-1", '"a', None, "yes")


@pytest.mark.parametrize(
    ("name", "text", "culprit"),
    [
        (
            "dev.csv",
            "text,label\na,x\nb,q",
            "line 3, column 'label': .*'q'",
        ),
        ("dev.csv", "text,label\na, ", "dev.csv contains no example"),
        ("dev.csv", "text,label\n", "dev.csv contains no example"),
        ("dev.jsonl", '{"text": 1, "label": "x"}', "line 1, column 'text'"),
    ],
)
def test_an_error_names_the_file_or_the_line(tmp_path, name, text, culprit):
    with pytest.raises(ValueError, match=culprit):
        read_examples(tmp_path, name, text, labels=["x", "y"])


# Rows of a table without names of columns, and the flags that read them.
ROWS = "a,yes\nb,no\n" * 5


NUMBERED_COLUMNS = {"text_column": "1", "label_column": "2", "delimiter": ","}


def test_the_first_row_is_an_example_where_columns_have_numbers(tmp_path):
    sets = write_train_set(tmp_path, ROWS, **NUMBERED_COLUMNS)
    assert sets.read_labels() == ["no", "yes"]


def test_a_row_of_column_names_is_no_example(tmp_path):
    sets = write_train_set(tmp_path, f"text,label\n{ROWS}", **NUMBERED_COLUMNS)
    with pytest.raises(ValueError, match=r"line 1 .*'label'"):
        sets.read_labels()


def test_a_train_set_without_the_column_of_the_labels_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="'label'"):
        read_examples(tmp_path, "train.csv", "text\na\n")


def test_a_test_set_may_lack_the_column_of_the_labels(tmp_path):
    options = {"labels": ["x", "y"]}
    (example,) = read_examples(tmp_path, "test.csv", "text\na\n", **options)
    assert example == ("test-1", "a", None, None)
