"""What the application does to a request before its handler, and after it.

The files test_app_*.py ask whole servers.
"""

import asyncio

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from serving.http.app import ServerApp
from tests.support.serving import asgi
from tests.support.serving.echo_models import EchoEngine, EchoExport


@pytest.fixture
def export():
    """An export whose model repeats each text."""
    return EchoExport(engine=EchoEngine())


def ask_app(app, method="GET", path="/healthz", **headers):
    """Returns the status and the headers of the reply to a request."""
    sent = []

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [
            (name.encode(), value.encode()) for name, value in headers.items()
        ],
    }
    asyncio.run(app(scope, asgi.create_receive(b""), send))
    return sent[0]["status"], dict(sent[0]["headers"])


def test_the_state_decides_whether_the_server_is_healthy(export):
    app = ServerApp.create({"m": export})
    assert ask_app(app)[0] == 503
    app.state.load_models()
    assert ask_app(app)[0] == 200


TOKEN = "a-long-token"


@pytest.fixture
def guarded_app(export):
    """A server that asks for a token."""
    app = ServerApp.create({"m": export}, token=TOKEN)
    app.state.load_models()
    return app


@pytest.mark.parametrize(
    "path", ["/api/models", "/openapi.json", "/v1/models/m", "/nothing"]
)
def test_a_path_of_models_needs_the_token(guarded_app, path):
    assert ask_app(guarded_app, path=path)[0] == 401
    header = f"Bearer {TOKEN}"
    assert ask_app(guarded_app, path=path, authorization=header)[0] != 401


@pytest.mark.parametrize("path", ["/healthz", "/", "/page.js"])
def test_health_and_page_need_no_token(guarded_app, path):
    assert ask_app(guarded_app, path=path)[0] == 200


def test_an_origin_that_is_named_may_read_replies(export):
    app = ServerApp.create({"m": export}, allowed_origins=["https://a.com"])
    _, headers = ask_app(app, origin="https://a.com")
    assert headers[b"access-control-allow-origin"] == b"https://a.com"
    assert (
        b"access-control-allow-origin"
        not in ask_app(app, origin="https://b")[1]
    )


def test_head_is_answered_as_get(export):
    app = ServerApp.create({"m": export})
    app.state.load_models()
    assert ask_app(app, "HEAD") == ask_app(app, "GET")


def test_a_stopping_server_closes_connections_after_their_replies(export):
    app = ServerApp.create({"m": export})
    assert b"connection" not in ask_app(app)[1]
    app.state.is_stopping = True
    assert ask_app(app)[1][b"connection"] == b"close"
