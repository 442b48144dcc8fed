"""The requests to a text task in the JSON of a body."""

import pytest

from serving.http.request_bodies import parse_body, parse_predict_body
from serving.text_tasks.request_fields import RequestError
from serving.text_tasks.text_task_registry import TEXT_TASKS_OF_CLASS

(CLASSIFY,) = (
    text_task
    for text_task in TEXT_TASKS_OF_CLASS["BertClassifier"]
    if text_task.name == "classify"
)


@pytest.mark.parametrize(
    ("text", "requests", "is_list"),
    [
        (b'{"text_a": "a"}', [{"text_a": "a"}], False),
        (b'[{"text_a": "a"}]', [{"text_a": "a"}], True),
        (b'{"text_a": ["a", "b"]}', [{"text_a": "a"}, {"text_a": "b"}], True),
        # The task refuses what is no object.
        (b'"a"', ["a"], False),
    ],
)
def test_a_body_is_an_object_or_a_list(text, requests, is_list):
    parsed = parse_body(CLASSIFY, text)
    assert parsed.requests == requests
    assert parsed.is_list == is_list


def test_a_body_that_is_not_json_is_refused():
    with pytest.raises(RequestError, match="the body"):
        parse_body(CLASSIFY, b"{text: a}")


@pytest.mark.parametrize(
    ("text", "requests"),
    [
        (b'{"instances": ["a", "b"]}', [{"text_a": "a"}, {"text_a": "b"}]),
        (b'{"instances": [{"text_a": "a"}]}', [{"text_a": "a"}]),
        (b'{"instances": []}', []),
        (
            b'{"instances": ["a"], "signature_name": "classify"}',
            [{"text_a": "a"}],
        ),
        (
            b'{"instances": ["a"], "signature_name": "serving_default"}',
            [{"text_a": "a"}],
        ),
    ],
)
def test_instances_are_texts_or_objects(text, requests):
    assert parse_predict_body(CLASSIFY, text) == requests


@pytest.mark.parametrize(
    "text", [b"[]", b'{"instances": "a"}', b'{"instances": [], "inputs": []}']
)
def test_a_body_without_a_list_of_instances_is_refused(text):
    with pytest.raises(RequestError, match=r'must be \{"instances"'):
        parse_predict_body(CLASSIFY, text)


def test_the_signature_of_another_task_is_refused():
    body = b'{"instances": ["a"], "signature_name": "embed"}'
    with pytest.raises(RequestError, match="'embed' is not served"):
        parse_predict_body(CLASSIFY, body)
