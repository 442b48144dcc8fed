"""Checks a request against the limits of serve.py, before it runs."""

import asyncio
from collections.abc import Sequence
from concurrent import futures

from fastapi import Request as HttpRequest
from starlette.requests import ClientDisconnect

from serving.http.errors import HttpError
from serving.http.queued_calls import QueuedCall
from serving.http.serve_config import LimitOptions
from serving.text_tasks.text_engine import AnyTextEngine
from serving.text_tasks.text_task import AnyTextTask


class RequestLimits:
    """Reads and checks requests, and refuses requests that are too large.

    Args:
        limits: limits on the sizes of requests, and on the time of each.
    """

    def __init__(self, limits: LimitOptions) -> None:
        self._limits = limits
        # Counts the WordPieces of long requests.
        self._counting_thread = futures.ThreadPoolExecutor(1)

    async def read_body(self, http_request: HttpRequest) -> bytes:
        """Returns the body of an HTTP request.

        If it is too large, uvicorn reads and drops the rest, so that the client
        sees the reply.

        Raises:
            HttpError: the body is too large, too slow or incomplete.
        """
        seconds = self._limits.timeout_s
        try:
            async with asyncio.timeout(seconds):
                return await self._receive_body(http_request)
        except TimeoutError:
            message = f"the body did not arrive within {seconds:g} s"
            raise HttpError(408, message, {"Connection": "close"}) from None
        except ClientDisconnect:
            raise HttpError(400, "the body ended too early") from None

    async def _receive_body(self, http_request: HttpRequest) -> bytes:
        """Returns the body of an HTTP request, unless it is too large."""
        body = bytearray()
        max_bytes = self._limits.max_body_bytes
        async for part in http_request.stream():
            body += part
            if len(body) > max_bytes:
                raise HttpError(
                    413,
                    f"the body is longer than {max_bytes} bytes, the server's "
                    "--max_body_bytes; send less text per request",
                )
        return bytes(body)

    def check_num_texts(
        self, text_task: AnyTextTask, requests: Sequence[object]
    ) -> None:
        """Checks the number of texts.

        Args:
            text_task: text task of the requests.
            requests: the requests of a body, which may be unchecked.

        Raises:
            HttpError: there are too many texts.
        """
        num_texts = _count_texts(text_task, requests)
        max_texts = self._limits.max_texts
        if num_texts > max_texts:
            raise HttpError(
                413,
                f"{num_texts} texts are more than {max_texts}, the "
                "server's --max_texts; send fewer texts per request",
            )

    async def check_num_tokens(
        self, text_engine: AnyTextEngine, call: QueuedCall
    ) -> None:
        """Checks the number of WordPieces, if it may be too large.

        Args:
            text_engine: engine that computes the call.
            call: call to check.

        Raises:
            HttpError: there is too much text.
        """
        max_tokens = self._limits.max_pieces
        # A text has at most as many WordPieces as bytes.
        if call.num_bytes <= max_tokens:
            return
        loop = asyncio.get_running_loop()
        num_tokens = await loop.run_in_executor(
            self._counting_thread, _count_tokens, text_engine, call
        )
        if num_tokens > max_tokens:
            raise HttpError(
                413,
                f"{num_tokens} WordPieces are more than {max_tokens}, the "
                "server's --max_pieces; send less text per request",
            )


def _count_texts(text_task: AnyTextTask, requests: Sequence[object]) -> int:
    """Returns the number of texts in requests, whose fields may be unchecked.

    A pair counts as one. If a field contains a list of texts, the network reads
    the other fields once for each text of the list.
    """
    values = [
        request.get(field.name)
        for request in requests
        if isinstance(request, dict)
        for field in text_task.fields
        if field.is_list
    ]
    counts = [len(texts) for texts in values if isinstance(texts, list)]
    return max(len(requests), sum(counts))


def _count_tokens(text_engine: AnyTextEngine, call: QueuedCall) -> int:
    """Returns the number of WordPieces of a call that the model reads."""
    tokenizer = text_engine.tokenizer
    max_seq_length = text_engine.max_seq_length
    # Every word of a list is read, also if the tokenizer drops all of it.
    if call.text_task.reads_all:
        return sum(max(len(tokenizer.tokenize(text)), 1) for text in call.texts)
    return sum(
        min(
            len(tokenizer.tokenize_beginning(text, max_seq_length)),
            max_seq_length,
        )
        for text in call.texts
    )
