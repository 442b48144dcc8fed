"""Columns that JSON or CSV cannot write as they are, in outputs of predict.py.

They are of odd types, contain numbers that are not finite, or repeat a name.
"""

import csv
import datetime
import decimal

import pytest

from tests.support import output_files
from tests.support.tables.csv_files import read_csv


@pytest.fixture
def odd_columns(work_folder):
    """Name of a table whose columns JSON and CSV cannot write as they are."""
    pyarrow = pytest.importorskip(
        "pyarrow", reason="needs requirements/tables.txt"
    )
    from pyarrow import parquet

    columns = {
        "review": ["a", "b", None],
        "ratio": [0.5, float("inf"), float("nan")],
        "raw": [b"x", b"\xff", None],
        "day": [datetime.date(2026, 1, 2)] * 3,
        "price": [decimal.Decimal("1.50")] * 3,
        "list": [[1.0, float("-inf")], [], None],
        "struct": [{"a": float("inf")}] * 3,
    }
    parquet.write_table(pyarrow.table(columns), work_folder / "odd.parquet")
    return "odd.parquet"


@pytest.fixture
def odd_rows(work_folder, odd_columns, classify):
    """The rows of that table with their replies, as CSV writes them."""
    assert classify(input_file=odd_columns, output_file="odd.csv") == 0
    return read_csv(work_folder / "odd.csv")


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        ("ratio", ["0.5", "inf", ""]),
        ("raw", ["b'x'", r"b'\xff'", ""]),
        ("day", ["2026-01-02"] * 3),
        ("price", ["1.50"] * 3),
        ("list", ["[1.0, null]", "[]", ""]),
        ("struct.a", ["inf"] * 3),
    ],
)
def test_columns_of_odd_types_stand_beside_the_answers_in_csv(
    column, cells, odd_rows
):
    assert [row[column] for row in odd_rows] == cells


def test_only_rows_with_a_text_are_answered_in_csv(odd_rows):
    assert [bool(row["label"]) for row in odd_rows] == [True, True, False]


def test_numbers_that_are_not_finite_are_null_in_json_lines(
    work_folder, odd_columns, classify
):
    assert classify(input_file=odd_columns, output_file="odd.jsonl") == 0
    result = output_files.read_json_lines(work_folder / "odd.jsonl")
    assert [row["ratio"] for row in result] == [0.5, None, None]


@pytest.mark.parametrize("name", ["odd.csv", "odd.jsonl"])
def test_a_written_table_can_be_read_again(name, odd_columns, classify):
    assert classify(input_file=odd_columns, output_file=name) == 0
    assert classify(input_file=name, output_file="again.jsonl") == 0


@pytest.fixture
def rows_of_odd_json(work_folder, classify):
    """The written rows of JSON lines with Infinity, NaN and null."""
    lines = [
        '{"review": "a", "x": Infinity}',
        '{"review": "b", "x": NaN}',
        '{"review": null, "x": 1}',
    ]
    (work_folder / "inf.jsonl").write_text("\n".join(lines))
    assert classify(input_file="inf.jsonl", output_file="inf.csv") == 0
    return read_csv(work_folder / "inf.csv")


def test_json_lines_may_contain_infinity(rows_of_odd_json):
    assert [row["x"] for row in rows_of_odd_json] == ["inf", "", "1"]


def test_only_a_text_that_is_null_has_no_label(rows_of_odd_json):
    have_labels = [bool(row["label"]) for row in rows_of_odd_json]
    assert have_labels == [True, True, False]


@pytest.fixture
def repeated_columns(work_folder):
    """Name of a table with two columns of one name."""
    text = "Tag,review,Tag\n1,a,2\n3,b,4\n"
    (work_folder / "twice.csv").write_text(text)
    return "twice.csv"


def test_both_columns_of_one_name_are_copied_to_csv(
    work_folder, repeated_columns, classify
):
    assert classify(input_file=repeated_columns, output_file="out2.csv") == 0
    header, *rows = csv.reader((work_folder / "out2.csv").open())
    assert header[:4] == ["Tag", "review", "Tag", "label"]
    assert [row[:3] for row in rows] == [["1", "a", "2"], ["3", "b", "4"]]


def test_the_second_column_of_one_name_has_another_key_in_json_lines(
    work_folder, repeated_columns, classify
):
    classify(input_file=repeated_columns, output_file="out2.jsonl")
    first, _ = output_files.read_json_lines(work_folder / "out2.jsonl")
    assert (first["Tag"], first["Tag.1"]) == ("1", "2")


def test_a_text_column_must_not_be_one_of_two_columns_of_one_name(
    repeated_columns, classify
):
    with pytest.raises(ValueError, match="two columns are named 'Tag'"):
        classify(
            input_file=repeated_columns,
            output_file="no.csv",
            text_column="Tag",
        )
