"""Asks a server of serve.py as an ASGI application, without a connection.

For example:

    status, reply = await post(server, "/api/models/m/tag", {"text": "a"})
"""

import asyncio
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message


async def post(server: "ASGIApp", path: str, body: object) -> tuple[int, Any]:
    """Returns (status, parsed JSON) of the reply to a client that waits.

    Args:
        server: a `serving.http.app.ServerApp`.
        path: the path of the request.
        body: the body, which is sent as JSON.
    """
    sent = []
    unread = [{"type": "http.request", "body": json.dumps(body).encode()}]

    async def receive() -> "Message":
        # A client that is gone would be told here.
        return unread.pop() if unread else await asyncio.Future()

    async def send(message: "Message") -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
    }
    await server(scope, receive, send)
    start, *parts = sent
    text = b"".join(part.get("body", b"") for part in parts)
    return start["status"], json.loads(text)
