"""A span is read in the notation of any annotation tool."""

import pytest

from data.ner.labeled_spans import (
    LabeledSpan,
    has_spans,
    is_list_of_spans,
    parse_span,
    parse_span_of_text,
)

TEXT = "Anna left Oslo."
ANNA = LabeledSpan(0, 4, "PER")


@pytest.mark.parametrize(
    "value",
    [
        [0, 4, "PER"],
        {"start": 0, "end": 4, "label": "PER"},
        {"start": 0, "end": 4, "type": "PER"},
        {"start": 0, "end": 4, "labels": ["PER"]},
        {"start": 0, "end": 4, "hypertextlabels": ["PER"]},
        {"start_offset": 0, "end_offset": 4, "label": "PER"},
    ],
)
def test_a_span_is_read_as_each_tool_writes_it(value):
    assert parse_span(value) == ANNA


@pytest.mark.parametrize(
    "value",
    [
        None,
        "Anna",
        [0, 4],
        [True, 4, "PER"],
        [0, 4.0, "PER"],
        [0, 4, ""],
        {"start": 0, "end": 4},
        {"start": 0, "end": 4, "labels": ["PER", "LOC"]},
    ],
)
def test_parse_span_returns_none_for_values_without_a_span(value):
    assert parse_span(value) is None


def test_a_list_has_spans_if_its_first_element_is_one():
    assert has_spans([[0, 4, "PER"]])
    assert not has_spans(["news"])
    assert not has_spans([])


def test_an_empty_list_is_a_list_of_spans():
    assert is_list_of_spans([])
    assert not is_list_of_spans(["news"])


def test_a_span_may_repeat_its_text():
    value = {"start": 0, "end": 4, "label": "PER", "text": "Anna"}
    assert parse_span_of_text(value, TEXT, "line 1") == ANNA


@pytest.mark.parametrize(
    "value",
    [
        "Anna",
        [0, 99, "PER"],
        [4, 4, "PER"],
        [-1, 4, "PER"],
        {"start": 0, "end": 4, "label": "PER", "text": "Oslo"},
    ],
)
def test_a_span_that_does_not_fit_the_text_is_an_error(value):
    with pytest.raises(ValueError, match=r"line 1: the span .* does not fit"):
        parse_span_of_text(value, TEXT, "line 1")
