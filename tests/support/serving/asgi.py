"""Asks a server of serve.py as an ASGI application, without a connection.

For example:

    status, reply = await post(server, "/api/models/m/tag", {"text": "a"})
"""

import asyncio
import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope


class Response(NamedTuple):
    """What a client receives.

    Attributes:
        status: status of the response.
        headers: {name in lower case: value}.
        body: all parts of the body.
    """

    status: int
    headers: dict[str, str]
    body: bytes


def create_scope(method: str, path: str) -> "Scope":
    """Returns what ASGI says of a request before its body."""
    return {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
    }


def create_receive(body: bytes) -> "Receive":
    """Returns the function that gives a server the body, in one part."""
    unread: list[Message] = [{"type": "http.request", "body": body}]

    async def receive() -> "Message":
        # A client that is gone would be told here.
        return unread.pop() if unread else await asyncio.Future()

    return receive


async def ask(
    server: "ASGIApp", method: str, path: str, body: bytes = b""
) -> Response:
    """Returns the response to a client that waits.

    Args:
        server: a `serving.http.app.ServerApp`, or a part of it.
        method: method of HTTP.
        path: the path of the request.
        body: the body of the request.
    """
    sent = []

    async def send(message: "Message") -> None:
        sent.append(message)

    await server(create_scope(method, path), create_receive(body), send)
    start, *parts = sent
    headers = {
        name.decode(): value.decode() for name, value in start["headers"]
    }
    text = b"".join(part.get("body", b"") for part in parts)
    return Response(start["status"], headers, text)


async def post(server: "ASGIApp", path: str, body: object) -> tuple[int, Any]:
    """Returns (status, parsed JSON) of the reply to a client that waits.

    Args:
        server: a `serving.http.app.ServerApp`, or a part of it.
        path: the path of the request.
        body: the body, which is sent as JSON.
    """
    response = await ask(server, "POST", path, json.dumps(body).encode())
    return response.status, json.loads(response.body)
