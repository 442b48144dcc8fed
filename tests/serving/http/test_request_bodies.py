"""How a body is read, which is refused, and the requests in its JSON."""

import asyncio
import types

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from serving.http import request_bodies
from serving.http.errors import HttpError
from serving.http.request_bodies import parse_body, parse_predict_body
from serving.http.serve_config import LimitOptions
from serving.text_tasks.request_fields import RequestError
from serving.text_tasks.text_task_registry import TEXT_TASKS_OF_CLASS
from tests.support.serving.stub_engines import PARSE_NUMBER_TASK

(CLASSIFY,) = (
    text_task
    for text_task in TEXT_TASKS_OF_CLASS["BertClassifier"]
    if text_task.name == "classify"
)


def read_body(*parts, **limits):
    """Reads a body that comes in parts."""

    async def stream():
        for part in parts:
            await asyncio.sleep(0)
            yield part
        if limits.get("timeout_s"):
            # The client never sends the rest of the body.
            await asyncio.Event().wait()

    http_request = types.SimpleNamespace(stream=stream)
    return asyncio.run(
        request_bodies.read_body(http_request, LimitOptions(**limits))
    )


def test_a_body_is_read_from_its_parts():
    assert read_body(b"ab", b"c", max_body_bytes=3) == b"abc"


def test_a_body_beyond_the_limit_is_refused():
    with pytest.raises(HttpError, match="longer than 2 bytes") as caught:
        read_body(b"ab", b"c", max_body_bytes=2)
    assert caught.value.status == 413


def test_a_missing_body_is_refused():
    with pytest.raises(HttpError, match=r"within 0\.01 s") as caught:
        read_body(b"a", timeout_s=0.01)
    assert caught.value.status == 408


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


def test_more_texts_than_the_limit_are_refused():
    requests = [{"text": "1"}, {"text": "2"}]
    request_bodies.check_num_texts(PARSE_NUMBER_TASK, requests, max_texts=2)
    with pytest.raises(HttpError, match="2 texts are more than 1") as caught:
        request_bodies.check_num_texts(PARSE_NUMBER_TASK, requests, max_texts=1)
    assert caught.value.status == 413
