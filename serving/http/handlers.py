"""Replies to the requests to each path of the server.

The body of an `http_request` contains one or several requests to a text task,
as predict.py reads them. The functions below `Handlers` read the body, find the
requests in its JSON, and wait for their replies.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Annotated, Any

from fastapi import Path as PathParameter
from fastapi import Request as HttpRequest
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.staticfiles import StaticFiles

from files.json_files import parse_json
from serving.http.call_queue import QueuedCall
from serving.http.errors import HttpError, find_or_404
from serving.http.serve_config import LimitOptions
from serving.http.served_models import ServedModel, ServerState
from serving.text_tasks.request_fields import RequestError, RequestList
from serving.text_tasks.text_task import AnyTextTask

PAGE_FOLDER = Path(__file__).parent / "page"
PREDICT_SUFFIX = ":predict"
# Fields of a body as in TensorFlow Serving.
_PREDICT_FIELDS = {"instances", "signature_name"}


class Handlers:
    """Replies to requests, with a method for each path of app.py.

    openapi.json contains the docstrings of the methods, and the names or
    aliases of their parameters, which are the parts of a path. So they say
    `task`, as the paths do, where the code says `text_task`.

    Args:
        state: models of the server, and whether it is ready.
    """

    def __init__(self, state: ServerState) -> None:
        self._state = state
        self._page_files = StaticFiles(directory=PAGE_FOLDER)

    async def reply_to_page_request(
        self, http_request: HttpRequest
    ) -> Response:
        """Returns a file of the page that browsers show."""
        name = http_request.url.path[1:] or "index.html"
        return await self._page_files.get_response(name, http_request.scope)

    async def reply_to_health_request(self) -> Response:
        """Returns status 200 once every model is loaded, and 503 otherwise."""
        if self._state.is_ready:
            return JSONResponse({"status": "ready"})
        raise HttpError(503, "loading")

    async def reply_to_models_request(self) -> Response:
        """Returns {"models": list of objects}, which describe the models."""
        self._state.check_ready()
        models = [
            {"name": name, **served_model.description}
            for name, served_model in self._state.models.items()
        ]
        return JSONResponse({"models": models})

    async def reply_to_status_request(self, name: str) -> Response:
        """Returns {"model_version_status": [...]}, as TensorFlow Serving."""
        if name not in self._state.exports and name.endswith(PREDICT_SUFFIX):
            raise HTTPException(405, "use POST", {"Allow": "POST"})
        status = {
            "version": self._state.find_export(name).version,
            "state": "AVAILABLE" if self._state.is_ready else "LOADING",
            "status": {"error_code": "OK", "error_message": ""},
        }
        return JSONResponse({"model_version_status": [status]})

    async def reply_to_text_task_request(
        self,
        name: str,
        text_task_name: Annotated[str, PathParameter(alias="task")],
        http_request: HttpRequest,
    ) -> Response:
        """Replies to {"text": "..."}, or several texts, by a task of a model.

        The fields depend on the task, as in predict.py. For several texts, send
        a list of objects, or a list of texts in a field.
        """
        served_model = self._state.find_model(name)
        text_task = find_or_404(
            f"task of {name}", text_task_name, served_model.text_task_of_name
        )
        body = await read_body(http_request, self._state.limits)
        parsed = parse_body(text_task, body)
        replies = await self._reply_to_requests(
            http_request, served_model, text_task, parsed.requests
        )
        joined = b", ".join(replies)
        return _create_response(b"[%b]" % joined if parsed.is_list else joined)

    async def reply_to_predict_request(
        self, name: str, http_request: HttpRequest
    ) -> Response:
        """Replies to {"instances": [...]}, texts or objects, by the main task.

        The reply is {"predictions": list of the replies of that task}.
        """
        served_model = self._state.find_model(name)
        text_task = served_model.main_text_task
        body = await read_body(http_request, self._state.limits)
        requests = parse_predict_body(text_task, body)
        replies = await self._reply_to_requests(
            http_request, served_model, text_task, requests
        )
        return _create_response(b'{"predictions": [%b]}' % b", ".join(replies))

    async def _reply_to_requests(
        self,
        http_request: HttpRequest,
        served_model: ServedModel,
        text_task: AnyTextTask,
        requests: Sequence[object],
    ) -> list[bytes]:
        """Returns the reply to each request of a body, as JSON text."""
        limits = self._state.limits
        check_num_texts(text_task, requests, limits.max_texts)
        call = QueuedCall.create(text_task, requests)
        return await _wait_for_replies(
            served_model.compute_replies(call, limits.max_pieces),
            http_request,
            limits.timeout_s,
            "send less text"
            if call.is_long
            else "the server is busy; try again later",
        )


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


async def _wait_for_replies(
    computation: Coroutine[Any, Any, list[bytes]],
    http_request: HttpRequest,
    timeout_s: float,
    advice: str,
) -> list[bytes]:
    """Returns the replies, if they are computed while the client waits.

    Nothing more is computed for a client that is gone or late.

    Args:
        computation: coroutine that returns the replies.
        http_request: request of the client.
        timeout_s: seconds after which the client waits no longer.
        advice: what a client should do if its replies are not computed in time.

    Raises:
        HttpError: the client closed the connection, or the time is over. An
            error of `computation` is raised too.
    """
    replies = asyncio.create_task(computation)
    gone = asyncio.create_task(_wait_for_disconnect(http_request))
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
    raise HttpError(504, f"no reply within {timeout_s:g} s; {advice}")


async def _wait_for_disconnect(http_request: HttpRequest) -> None:
    while (await http_request.receive())["type"] != "http.disconnect":
        pass


def _create_response(body: bytes) -> Response:
    return Response(body, media_type="application/json")
