"""The columns that all shards of a job have."""

import pytest

from serving.predict.bulk_schema import InputColumns
from serving.predict.input_rows import InputRow


@pytest.fixture
def columns():
    """No columns so far, of requests with a text."""
    return InputColumns(names={}, taken=set(), repeated={"text", "words"})


def test_columns_of_later_rows_follow_those_of_earlier_ones(columns):
    columns.add({"id": 1, "text": "a"})
    columns.add({"text": "b", "note": "c"})
    assert list(columns.names) == ["id", "text", "note"]


def test_each_entry_of_an_object_is_a_column(columns):
    columns.add({"scores": {"no": 1, "yes": 2}})
    assert list(columns.names) == ["scores.no", "scores.yes"]


def test_the_names_of_an_object_and_of_its_entries_are_taken(columns):
    columns.add({"scores": {"no": 1}})
    assert columns.taken == {"scores", "scores.no"}


def test_a_field_that_equals_its_column_is_not_written_twice(columns):
    columns.drop_unequal_fields(InputRow(1, {"text": "a"}, cells={"text": "a"}))
    assert "text" in columns.repeated


def test_a_field_is_written_if_one_row_differs_from_its_column(columns):
    columns.drop_unequal_fields(InputRow(1, {"text": "a"}, cells={"text": "a"}))
    columns.drop_unequal_fields(InputRow(2, {"text": "b"}, cells={"text": "c"}))
    columns.drop_unequal_fields(InputRow(3, {"text": "d"}, cells={"text": "d"}))
    assert "text" not in columns.repeated
