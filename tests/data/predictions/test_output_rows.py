"""Answers as rows of a table."""

import pytest

from data.predictions.output_rows import (
    OutputRow,
    RowStatus,
    flatten_prediction,
    with_prediction,
)


@pytest.mark.parametrize(
    ("answer", "row"),
    [
        ({"label": "a"}, {"label": "a"}),
        (
            {"label": "a", "probabilities": {"a": 0.75, "b": 0.25}},
            {"label": "a", "probabilities.a": 0.75, "probabilities.b": 0.25},
        ),
        # Lists are cells, and so is what is inside of an inner dict.
        ({"words": ["x", "y"]}, {"words": ["x", "y"]}),
        ({"a": {"b": {"c": 1}}}, {"a.b": {"c": 1}}),
        ({"a": {}}, {}),
    ],
)
def test_a_field_of_fields_becomes_several_columns(answer, row):
    assert flatten_prediction(answer) == row


def test_the_id_of_a_request_stays_as_it_came():
    assert flatten_prediction({"id": {"page": 7}}) == {"id": {"page": 7}}


def test_the_columns_keep_the_order_of_the_answer():
    row = flatten_prediction({"z": 1, "a": {"y": 2, "b": 3}, "c": 4})
    assert [*row] == ["z", "a.y", "a.b", "c"]


def test_a_row_is_an_answer_if_nothing_else_is_said():
    assert OutputRow({}).status == RowStatus.PREDICTED


def test_a_field_of_a_prediction_that_a_column_has_too_gets_a_prefix():
    prediction = {"label": "b", "score": 0.5}
    assert with_prediction({"text": "Hi", "label": "a"}, prediction) == {
        "text": "Hi",
        "label": "a",
        "predicted_label": "b",
        "score": 0.5,
    }


def test_an_inner_field_of_a_prediction_may_have_the_name_of_a_column():
    row = {"spans.start": "3"}
    prediction = {"spans": {"start": 0}}
    assert with_prediction(row, prediction) == {
        "spans.start": "3",
        "predicted_spans": {"start": 0},
    }
