"""Answers as lines of JSON, beside columns of any type."""

import datetime
import decimal
import json

import pytest

from data.outputs.jsonl import to_json_line


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
