"""How a text task checks and splits a request, and reads its texts."""

import typing

import pytest

from serving.text_tasks.classify import CLASSIFY
from serving.text_tasks.tag import TAG
from serving.text_tasks.text_task_registry import list_text_tasks


def request_type_of(text_task):
    """Returns the TypedDict of the requests that a text task encodes."""
    return typing.get_type_hints(text_task.encode)["request"]


@pytest.mark.parametrize("text_task", list_text_tasks(), ids=lambda it: it.name)
def test_the_type_of_a_request_contains_all_fields(text_task):
    type_of_name = typing.get_type_hints(request_type_of(text_task))
    checked_as = {
        name: list[str] if field.is_list_as(name) else str
        for field in text_task.fields
        for name in field.names
    }
    assert {name: type_of_name.get(name) for name in checked_as} == checked_as


@pytest.mark.parametrize("text_task", list_text_tasks(), ids=lambda it: it.name)
def test_a_checked_request_contains_what_its_type_requires(text_task):
    always_sent = {
        field.name
        for field in text_task.fields
        if field.is_required and field.names == [field.name]
    }
    assert request_type_of(text_task).__required_keys__ <= always_sent


@pytest.mark.parametrize(
    ("request_", "culprit"),
    [
        ("a", "is not a JSON object"),
        ({}, "'text_a' or 'text' is missing"),
        ({"text": 1}, "'text' must be a string"),
        ({"text": "a", "text_a": "b"}, "the same field"),
    ],
)
def test_a_wrong_request_is_refused(request_, culprit):
    with pytest.raises(ValueError, match=culprit):
        CLASSIFY.parse_request(request_)


def test_a_checked_request_contains_only_fields():
    sent = {"text": "a", "id": 7}
    assert CLASSIFY.parse_request(sent) == {"text": "a"}


def test_the_texts_are_in_the_order_of_the_fields():
    request = CLASSIFY.parse_request({"text_b": "b", "text": "a"})
    assert CLASSIFY.texts_of(request) == ["a", "b"]


def test_a_request_without_words_has_no_text():
    request = TAG.parse_request({"words": []})
    assert not TAG.has_text(request)


def test_a_request_of_blanks_contains_no_text():
    request = CLASSIFY.parse_request({"text": " ", "text_b": "\n"})
    assert not CLASSIFY.has_text(request)


def test_a_request_of_single_texts_is_one_request():
    request = {"text_a": "a", "text_b": "b"}
    assert CLASSIFY.split_request(request) == ([request], False)


def test_each_text_of_a_list_is_a_request():
    requests, is_list = CLASSIFY.split_request({"text": ["a", "b"]})
    assert requests == [{"text": "a"}, {"text": "b"}]
    assert is_list


def test_a_text_beside_a_list_belongs_to_each_of_its_requests():
    requests, _ = CLASSIFY.split_request({"text_a": ["a", "b"], "text_b": "c"})
    assert requests == [
        {"text_a": "a", "text_b": "c"},
        {"text_a": "b", "text_b": "c"},
    ]


def test_an_empty_list_of_texts_contains_no_request():
    assert CLASSIFY.split_request({"text": []}) == ([], True)


def test_a_list_of_words_is_one_request():
    request = {"words": ["A", "boat"]}
    assert TAG.split_request(request) == ([request], False)


def test_lists_of_two_lengths_are_refused():
    with pytest.raises(ValueError, match="text_a, text_b must be lists of eq"):
        CLASSIFY.split_request({"text_a": ["a"], "text_b": ["b", "c"]})
