"""Which handler a path leads to, and what other paths are told.

tests/serving/http/test_handlers.py checks what the handlers reply.
"""

import asyncio
import json

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from serving.http.routes import create_router
from serving.http.serve_config import LimitOptions
from serving.http.server_state import ServerState
from tests.support.serving import asgi
from tests.support.serving.echo_models import EchoEngine, EchoExport


@pytest.fixture
def ask_server():
    """(method, path, body) -> the response of a server of the model "m"."""
    state = ServerState(
        exports={"m": EchoExport(engine=EchoEngine())},
        limits=LimitOptions(),
        has_token=False,
    )
    state.load_models()
    router = create_router(state)

    def send(method, path, body=None):
        text = b"" if body is None else json.dumps(body).encode()
        return asyncio.run(asgi.ask(router, method, path, text))

    return send


@pytest.mark.parametrize(
    ("path", "content_type"),
    [
        ("/", "text/html"),
        ("/page.css", "text/css"),
        ("/page.js", "text/javascript"),
    ],
)
def test_the_files_of_the_page_are_sent(ask_server, path, content_type):
    response = ask_server("GET", path)
    assert response.status == 200
    assert response.headers["content-type"].startswith(content_type)


@pytest.mark.parametrize(
    ("method", "path", "body", "key"),
    [
        ("GET", "/healthz", None, "status"),
        ("GET", "/api/models", None, "models"),
        ("POST", "/api/models/m/task", {"text": "a"}, "text"),
        ("GET", "/v1/models/m", None, "model_version_status"),
        ("POST", "/v1/models/m:predict", {"instances": ["a"]}, "predictions"),
        ("GET", "/openapi.json", None, "openapi"),
    ],
)
def test_a_path_leads_to_its_handler(ask_server, method, path, body, key):
    response = ask_server(method, path, body)
    assert response.status == 200
    assert key in json.loads(response.body)


def test_an_error_of_a_handler_is_the_reply(ask_server):
    response = ask_server("POST", "/api/models/n/task", {"text": "a"})
    assert response.status == 404
    assert "no model 'n'" in json.loads(response.body)["error"]


def test_an_unknown_path_gets_status_404_and_the_known_paths(ask_server):
    response = ask_server("GET", "/models")
    assert response.status == 404
    assert "POST /api/models/NAME/TASK" in json.loads(response.body)["error"]


def test_a_wrong_method_gets_status_405_and_the_allowed_ones(ask_server):
    response = ask_server("POST", "/healthz")
    assert response.status == 405
    assert response.headers["allow"] == "GET, HEAD"
