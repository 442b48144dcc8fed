"""What the server replies to a request of each path.

tests/serving/http/test_routes.py finds the handler of a path.
"""

import asyncio
import json

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from fastapi import Request
from starlette.exceptions import HTTPException

from serving.http.errors import HttpError
from serving.http.handlers import Handlers
from serving.http.serve_config import LimitOptions
from serving.http.server_state import ServerState
from serving.text_tasks.request_fields import RequestError
from tests.support.serving import asgi
from tests.support.serving.echo_models import EchoEngine, EchoExport


def create_state():
    """Returns the state of a server that has yet to load the model "m"."""
    return ServerState(
        exports={"m": EchoExport(engine=EchoEngine())},
        limits=LimitOptions(max_texts=2),
        has_token=False,
    )


@pytest.fixture
def handlers():
    """The handlers of a server with the model "m", which is ready."""
    state = create_state()
    state.load_models()
    return Handlers(state)


@pytest.fixture
def loading_handlers():
    """The same, whose model is not loaded yet."""
    return Handlers(create_state())


def create_request(body):
    """Returns an HTTP request with a body of JSON."""
    receive = asgi.create_receive(json.dumps(body).encode())
    return Request(asgi.create_scope("POST", "/"), receive)


def read_reply(computation):
    """Returns the parsed reply that a coroutine of Handlers returns."""
    return json.loads(asyncio.run(computation).body)


def test_a_server_is_healthy_once_its_models_are_loaded(handlers):
    assert read_reply(handlers.reply_to_health_request()) == {"status": "ready"}


def test_a_server_that_loads_its_models_is_not_healthy(loading_handlers):
    with pytest.raises(HttpError, match="loading") as caught:
        read_reply(loading_handlers.reply_to_health_request())
    assert caught.value.status == 503


def test_the_models_are_listed_with_their_tasks(handlers):
    (model,) = read_reply(handlers.reply_to_models_request())["models"]
    assert model["name"] == "m"
    assert model["tasks"] == ["task"]
    assert model["fields"] == {"task": ["text"]}


def test_the_status_of_a_model_is_that_of_tensorflow_serving(handlers):
    reply = read_reply(handlers.reply_to_status_request("m"))
    (status,) = reply["model_version_status"]
    assert (status["version"], status["state"]) == ("1", "AVAILABLE")


def test_a_model_that_is_loading_has_the_status_loading(loading_handlers):
    reply = read_reply(loading_handlers.reply_to_status_request("m"))
    assert reply["model_version_status"][0]["state"] == "LOADING"


def test_a_get_of_a_path_of_predictions_is_refused(handlers):
    with pytest.raises(HTTPException, match="use POST") as caught:
        read_reply(handlers.reply_to_status_request("m:predict"))
    assert caught.value.headers == {"Allow": "POST"}


def test_one_text_gets_a_reply(handlers):
    reply = read_reply(
        handlers.reply_to_text_task_request(
            "m", "task", create_request({"text": "a"})
        )
    )
    assert reply == {"text": "a"}


@pytest.mark.parametrize("texts", [[], ["a"], ["a", "b"]])
def test_a_list_of_texts_gets_a_list_of_replies(handlers, texts):
    reply = read_reply(
        handlers.reply_to_text_task_request(
            "m", "task", create_request({"text": texts})
        )
    )
    assert reply == [{"text": text} for text in texts]


@pytest.mark.parametrize(
    ("name", "task", "culprit"),
    [("n", "task", "no model 'n'"), ("m", "tag", "no task of m 'tag'")],
)
def test_another_model_or_task_is_refused(handlers, name, task, culprit):
    with pytest.raises(HttpError, match=culprit) as caught:
        read_reply(
            handlers.reply_to_text_task_request(name, task, create_request({}))
        )
    assert caught.value.status == 404


@pytest.mark.parametrize(
    ("body", "status", "culprit"),
    [
        ({}, 400, "'text' is missing"),
        ({"text": ["a", 1]}, 400, "text 2: 'text' must be a string"),
        ({"text": [*"abc"]}, 413, "3 texts are more than 2"),
        ({"text": "bad"}, 400, "bad"),
        ({"text": "broken"}, 500, "internal error"),
    ],
)
def test_a_request_that_fails_is_an_error(handlers, body, status, culprit):
    with pytest.raises(HttpError, match=culprit) as caught:
        read_reply(
            handlers.reply_to_text_task_request(
                "m", "task", create_request(body)
            )
        )
    assert caught.value.status == status


def test_predictions_are_those_of_the_main_task(handlers):
    reply = read_reply(
        handlers.reply_to_predict_request(
            "m", create_request({"instances": ["a", "b"]})
        )
    )
    assert reply == {"predictions": [{"text": "a"}, {"text": "b"}]}


def test_a_body_without_instances_is_refused(handlers):
    with pytest.raises(RequestError, match="instances"):
        read_reply(
            handlers.reply_to_predict_request(
                "m", create_request({"text": "a"})
            )
        )
