"""What serve.py replies for a model of every kind, asked without a connection.

tests/serving/http/test_handlers.py checks the same with a model of the test.
"""

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from serving.http.serve_config import LimitOptions
from serving.text_tasks import asking
from serving.text_tasks.text_task import ReplyOptions
from tests.support.checkpoints import assert_same
from tests.support.serving.exports import TEXT_TASK_REQUESTS

TEXT = {"text": "The harbor light is on."}
TAG = "/api/models/ner/tag"
CLASSIFY = "/api/models/classifier/classify"
EACH_TASK = pytest.mark.parametrize(
    ("kind", "task", "requests"), TEXT_TASK_REQUESTS
)


@pytest.fixture
def ask_python(load_text_model):
    """(kind, task, requests) -> the replies of the model in this process."""

    def ask(kind, task, requests):
        model = load_text_model(kind)
        reply_options = ReplyOptions(top_k=8, n_best=8)
        return asking.ask(
            model.loaded_export, model.text_task(task), requests, reply_options
        )

    return ask


def check_reply(ask_server, path, body, expected):
    """Checks what the server replies to a request."""
    status, reply = ask_server("POST", path, body)
    assert status == 200, reply
    assert_same(reply, expected, 1e-4)


@EACH_TASK
def test_one_request_has_the_reply_of_python(
    ask_server, ask_python, kind, task, requests
):
    _, request, *_ = requests
    (expected,) = ask_python(kind, task, [request])
    check_reply(ask_server, f"/api/models/{kind}/{task}", request, expected)


@EACH_TASK
def test_a_list_of_requests_has_the_replies_of_python(
    ask_server, ask_python, kind, task, requests
):
    expected = ask_python(kind, task, requests)
    check_reply(ask_server, f"/api/models/{kind}/{task}", requests, expected)


@EACH_TASK
def test_a_request_of_lists_has_the_replies_of_python(
    ask_server, ask_python, kind, task, requests
):
    expected = ask_python(kind, task, requests)
    body = {
        field: [request[field] for request in requests] for field in requests[0]
    }
    check_reply(ask_server, f"/api/models/{kind}/{task}", body, expected)


@pytest.mark.parametrize(
    ("kind", "task", "requests"),
    [
        (kind, task, requests)
        for kind, task, requests in TEXT_TASK_REQUESTS
        # It is not the first task of its model.
        if task != "tokenize"
    ],
)
def test_the_path_of_tensorflow_serving_has_the_replies_of_python(
    ask_server, ask_python, kind, task, requests
):
    expected = {"predictions": ask_python(kind, task, requests)}
    # Only a question has two fields.
    instances = [
        request if task == "answer" else request["text"] for request in requests
    ]
    body = {"instances": instances}
    check_reply(ask_server, f"/v1/models/{kind}:predict", body, expected)


# Brackets in brackets, more than a reader of JSON can follow.
TOO_DEEP = "[" * 50_000
MAX_TEXTS = LimitOptions().max_texts
# {what is wrong: (method, path, body, status, part of the error)}
ERRORS = {
    "unknown model": ("POST", "/api/models/none/tag", TEXT, 404, "'none'"),
    "unknown task": (
        "POST",
        "/api/models/ner/embed",
        TEXT,
        404,
        "choose from tag",
    ),
    "unknown signature": (
        "POST",
        "/v1/models/ner:classify",
        {"instances": []},
        404,
        "paths are",
    ),
    "unknown page": ("GET", "/docs", None, 404, "no such path"),
    "file outside of the page": (
        "GET",
        "/../server.py",
        None,
        404,
        "no such path",
    ),
    "wrong method": ("GET", TAG, None, 405, "use POST"),
    "not JSON": ("POST", TAG, TOO_DEEP, 400, "JSON"),
    "half of a surrogate pair": (
        "POST",
        TAG,
        '{"text": "\\ud800"}',
        400,
        "surrogate",
    ),
    "missing field": ("POST", CLASSIFY, {"txt": 3}, 400, "'text' is missing"),
    "null in a list": (
        "POST",
        TAG,
        [TEXT, {"text": None}],
        400,
        "text 2: 'text'",
    ),
    "lists of two lengths": (
        "POST",
        "/api/models/squad/answer",
        {"question": ["a"], "context": ["b", "c"]},
        400,
        "context, question",
    ),
    "instances that are no list": (
        "POST",
        "/v1/models/ner:predict",
        {"instances": "a"},
        400,
        "instances",
    ),
    "too many texts": (
        "POST",
        TAG,
        {"text": ["a"] * (MAX_TEXTS + 1)},
        413,
        "--max_texts",
    ),
}


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "part"), ERRORS.values(), ids=ERRORS
)
def test_a_wrong_request_gets_an_error_of_one_line(
    ask_server, method, path, body, status, part
):
    result, reply = ask_server(method, path, body)
    assert result == status, reply
    assert [*reply] == ["error"]
    assert part in reply["error"]
    assert "\n" not in reply["error"]


def test_a_request_without_texts_has_no_replies(ask_server):
    assert ask_server("POST", TAG, {"text": []}) == (200, [])


def test_a_request_without_instances_has_no_predictions(ask_server):
    reply = ask_server("POST", "/v1/models/ner:predict", {"instances": []})
    assert reply == (200, {"predictions": []})


def test_a_field_that_no_task_reads_may_contain_a_surrogate(ask_server):
    status, reply = ask_server("POST", TAG, '{"text": "a", "b": "\\ud800"}')
    assert status == 200
    assert reply["words"] == ["a"]
