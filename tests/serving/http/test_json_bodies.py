"""The requests in the JSON of a body, and replies as such JSON."""

import pytest

from serving.http.json_bodies import (
    create_body,
    create_predict_body,
    encode_reply,
    parse_body,
    parse_predict_body,
)
from serving.text_tasks.registry import TEXT_TASKS_OF_CLASS

(CLASSIFY,) = (
    text_task
    for text_task in TEXT_TASKS_OF_CLASS["BertClassifier"]
    if text_task.name == "classify"
)
REPLIES = [b'{"label": "a"}', b'{"label": "b"}']


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


def test_a_body_that_is_no_json_is_refused():
    with pytest.raises(ValueError, match="the body"):
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
    with pytest.raises(ValueError, match=r'must be \{"instances"'):
        parse_predict_body(CLASSIFY, text)


def test_the_signature_of_another_task_is_refused():
    body = b'{"instances": ["a"], "signature_name": "embed"}'
    with pytest.raises(ValueError, match="'embed' is not served"):
        parse_predict_body(CLASSIFY, body)


def test_a_reply_is_json_in_utf_8():
    assert encode_reply({"text": "é"}) == '{"text": "é"}'.encode()


def test_half_of_a_pair_of_surrogates_becomes_a_question_mark():
    assert encode_reply({"text": "\ud800"}) == b'{"text": "?"}'


def test_one_request_gets_a_reply_and_a_list_gets_a_list():
    assert create_body(REPLIES[:1], is_list=False) == REPLIES[0]
    assert create_body(REPLIES[:1], is_list=True) == b'[{"label": "a"}]'
    assert create_body(REPLIES, is_list=True) == (
        b'[{"label": "a"}, {"label": "b"}]'
    )


def test_predictions_are_a_list_as_in_tensorflow_serving():
    assert create_predict_body(REPLIES[:1]) == (
        b'{"predictions": [{"label": "a"}]}'
    )
