"""Who passes the check of the token of serve.py."""

import asyncio

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from starlette.responses import Response

from serving.http.app import TokenCheck

CHECK = TokenCheck(Response("passed"), "s3cret")


def status_of(path, header=b""):
    """Returns the status of the reply to a request with this header."""
    sent = []

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "path": path,
        "headers": [(b"authorization", header)],
    }
    asyncio.run(CHECK(scope, None, send))
    return sent[0]["status"]


@pytest.mark.parametrize(
    "header", [b"Bearer s3cret", b"bearer  s3cret ", b"BEARER s3cret"]
)
def test_a_request_with_the_token_passes(header):
    assert status_of("/api/models", header) == 200


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"s3cret",
        b"Basic s3cret",
        b"Bearer S3CRET",
        b"Bearer",
        b"Bearer \xe9",
    ],
)
def test_a_request_without_the_token_is_refused(header):
    assert status_of("/api/models", header) == 401


@pytest.mark.parametrize("path", ["/", "/page.js", "/page.css", "/healthz"])
def test_the_page_and_the_health_need_no_token(path):
    assert status_of(path) == 200
