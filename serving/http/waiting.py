"""Waits for replies, as long as the client and the time limit allow."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from fastapi import Request as HttpRequest

from serving.http.errors import HttpError


async def wait_for_replies(
    answering: Coroutine[Any, Any, list[bytes]],
    request: HttpRequest,
    timeout_s: float,
    advice: str,
) -> list[bytes]:
    """Returns the replies, if they are computed while the client waits.

    Nothing more is computed for a client that is gone or late.

    Args:
        answering: coroutine that returns the replies.
        request: request of the client.
        timeout_s: seconds after which the client waits no longer.
        advice: what a client should do if its replies are not computed in time.

    Raises:
        HttpError: the client closed the connection, or the time is over, or as
            `answering` raises it.
    """
    replies = asyncio.create_task(answering)
    gone = asyncio.create_task(_wait_for_disconnect(request))
    try:
        await asyncio.wait(
            [replies, gone],
            timeout=timeout_s,
            return_when=asyncio.FIRST_COMPLETED,
        )
        if replies.done():
            return replies.result()
        if gone.done():
            raise HttpError(400, "the client closed the connection")
    finally:
        replies.cancel()
        gone.cancel()
    raise HttpError(504, f"no answer within {timeout_s:g} s; {advice}")


async def _wait_for_disconnect(request: HttpRequest) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
