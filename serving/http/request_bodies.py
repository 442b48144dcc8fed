"""Reads the bodies of HTTP requests: JSON with requests to a text task."""

import asyncio
from collections.abc import Sequence

from fastapi import Request as HttpRequest
from starlette.requests import ClientDisconnect

from files.json_files import parse_json
from serving.http.errors import HttpError
from serving.http.serve_config import LimitOptions
from serving.text_tasks.request_fields import RequestError, RequestList
from serving.text_tasks.text_task import AnyTextTask

# Fields of a body as in TensorFlow Serving.
_PREDICT_FIELDS = {"instances", "signature_name"}


async def read_body(http_request: HttpRequest, limits: LimitOptions) -> bytes:
    """Returns the body of an HTTP request.

    If it is too large, uvicorn reads and drops the rest, so that the client
    sees the reply.

    Raises:
        HttpError: the body is too large, too slow or incomplete.
    """
    try:
        async with asyncio.timeout(limits.timeout_s):
            return await _receive_body(http_request, limits.max_body_bytes)
    except TimeoutError:
        message = f"the body did not arrive within {limits.timeout_s:g} s"
        raise HttpError(408, message, {"Connection": "close"}) from None
    except ClientDisconnect:
        raise HttpError(400, "the body ended too early") from None


async def _receive_body(http_request: HttpRequest, max_bytes: int) -> bytes:
    """Returns the body of an HTTP request, unless it is too large."""
    body = bytearray()
    async for part in http_request.stream():
        body += part
        if len(body) > max_bytes:
            raise HttpError(
                413,
                f"the body is longer than {max_bytes} bytes, the server's "
                "--max_body_bytes; send less text per request",
            )
    return bytes(body)


def parse_body(text_task: AnyTextTask, body: bytes) -> RequestList:
    """Returns the unchecked requests in a body.

    The body is one object, a list of objects, or an object with lists of texts.

    Raises:
        RequestError: the body is not valid.
    """
    value = _parse_json(body)
    if isinstance(value, list):
        return RequestList(value, is_list=True)
    if not isinstance(value, dict):
        return RequestList([value], is_list=False)
    return text_task.split_request(value)


def parse_predict_body(text_task: AnyTextTask, body: bytes) -> list[object]:
    """Returns the unchecked requests in a body, as in TensorFlow Serving.

    The body is {"instances": list of texts or objects}. Its "signature_name"
    may name the text task.

    Raises:
        RequestError: the body is not valid.
    """
    value = _parse_json(body)
    if not (
        isinstance(value, dict)
        and {*value} <= _PREDICT_FIELDS
        and isinstance(value.get("instances"), list)
    ):
        raise RequestError('the body must be {"instances": [texts or objects]}')
    names = (text_task.name, "serving_default")
    if value.get("signature_name", text_task.name) not in names:
        raise RequestError(
            f"'signature_name' {repr(value['signature_name'])[:80]} is not "
            f"served; omit it, or use {' or '.join(names)}"
        )
    name = text_task.fields[0].name
    return [
        {name: instance} if isinstance(instance, str) else instance
        for instance in value["instances"]
    ]


def _parse_json(body: bytes) -> object:
    try:
        return parse_json(body, "the body", object)
    except ValueError as error:
        raise RequestError(str(error)) from None


def check_num_texts(
    text_task: AnyTextTask, requests: Sequence[object], max_texts: int
) -> None:
    """Checks the number of texts in the requests of a body.

    Args:
        text_task: text task of the requests.
        requests: the unchecked requests of a body.
        max_texts: maximum number of texts.

    Raises:
        HttpError: there are too many texts.
    """
    num_texts = _count_texts(text_task, requests)
    if num_texts > max_texts:
        raise HttpError(
            413,
            f"{num_texts} texts are more than {max_texts}, the "
            "server's --max_texts; send fewer texts per request",
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
