"""Predictions as lines of JSON, and as the rows of a table in CSV."""

import csv
import datetime
import decimal
import io
import json

import pytest

from data.predictions.output_rows import OutputRow, RowStatus, with_prediction
from data.predictions.output_text import to_json_line, write_csv

ROWS = [
    OutputRow({"id": 1, "line": 4, "error": "no text"}, RowStatus.FAILED),
    OutputRow(
        {"id": "b", "file": "c", "label": ["x", "y"], "p": {"x": 1, "y": 0.5}}
    ),
    OutputRow(
        {"id": None, "label": [], "p": {"x": 0.25, "y": 1}, "spans": [[1, 2]]}
    ),
    OutputRow({"id": "\ud800", "label": None, "p": {"x": 0.25, "y": 1}}),
]


def as_csv(rows):
    """Returns the text that `write_csv` writes."""
    file = io.BytesIO()
    write_csv([rows], file)
    return file.getvalue().decode()


def test_csv_contains_predictions_of_any_type():
    header, *rows = csv.reader(as_csv(ROWS).splitlines())
    assert ",".join(header) == "id,file,label,p.x,p.y,spans,line,error"
    assert rows[0] == ["1", "", "", "", "", "", "4", "no text"]
    assert rows[1][:6] == ["b", "c", '["x", "y"]', "1", "0.5", ""]
    assert rows[3][:2] == ["\\ud800", ""]


def test_no_rows_are_an_empty_table():
    assert as_csv([]) == ""


def test_columns_of_a_new_prediction_replace_no_earlier_ones():
    row = OutputRow(with_prediction({"p.a": 1}, {"p": {"a": 2}}))
    assert as_csv([row]) == "p.a,predicted_p.a\n1,2\n"


COPIED = {
    "a": float("inf"),
    "b": [1.5, float("nan")],
    "c": {"d": -float("inf"), "e": [float("inf")]},
    "f": datetime.datetime(2026, 1, 2, 3),
    "g": [datetime.date(2026, 1, 2)],
    "h": decimal.Decimal("1.50"),
    "i": b"x",
    "label": "x",
}


def test_copied_columns_of_any_type_are_cells_beside_the_answer():
    text = as_csv([OutputRow({**COPIED, "label": "y"})])
    header, row = csv.reader(text.splitlines())
    assert header == [*"ab", "c.d", "c.e", *"fghi", "label"]
    assert row == [
        "inf",
        "[1.5, null]",
        "-inf",
        "[null]",
        "2026-01-02T03:00:00",
        '["2026-01-02"]',
        "1.50",
        "b'x'",
        "y",
    ]


def test_a_column_that_is_nested_too_deeply_is_named_in_its_cell():
    deep: list = []
    for _ in range(10_000):
        deep = [deep]
    text = as_csv([OutputRow({"x": deep, "label": "y"})])
    assert text == "x,label\nnested too deeply,y\n"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (float("inf"), None),
        ([1.5, float("nan")], [1.5, None]),
        (
            {"d": -float("inf"), "e": [float("inf")]},
            {"d": None, "e": [None]},
        ),
        (datetime.datetime(2026, 1, 2, 3), "2026-01-02T03:00:00"),
        ([datetime.date(2026, 1, 2)], ["2026-01-02"]),
        (decimal.Decimal("1.50"), "1.50"),
        (b"x", "b'x'"),
        ("x", "x"),
    ],
)
def test_copied_columns_of_any_type_are_values_of_json(value, expected):
    assert json.loads(to_json_line({"a": value})) == {"a": expected}
