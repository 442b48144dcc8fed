"""Replies to the requests to each path of the server.

The body of an `http_request` contains one or several requests to a text task,
as predict.py reads them.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Annotated, Any

from fastapi import Path as PathParameter
from fastapi import Request as HttpRequest
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.staticfiles import StaticFiles

from serving.http.call_queue import QueuedCall
from serving.http.errors import HttpError, find_or_404
from serving.http.model_worker import ModelWorker
from serving.http.request_bodies import (
    check_num_texts,
    parse_body,
    parse_predict_body,
    read_body,
)
from serving.http.server_state import ServerState
from serving.text_model import TextModel
from serving.text_tasks.text_task import AnyTextTask

PAGE_FOLDER = Path(__file__).parent / "page"
PREDICT_SUFFIX = ":predict"


class Handlers:
    """Replies to requests, with a method for each path of routes.py.

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
            {"name": name, **_describe_model(worker.text_model)}
            for name, worker in self._state.workers.items()
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
        worker = self._state.find_worker(name)
        text_tasks = _list_text_tasks(worker.text_model)
        text_task = find_or_404(f"task of {name}", text_task_name, text_tasks)
        body = await read_body(http_request, self._state.limits)
        parsed = parse_body(text_task, body)
        replies = await self._reply_to_requests(
            http_request, worker, text_task, parsed.requests
        )
        joined = b", ".join(replies)
        return _create_response(b"[%b]" % joined if parsed.is_list else joined)

    async def reply_to_predict_request(
        self, name: str, http_request: HttpRequest
    ) -> Response:
        """Replies to {"instances": [...]}, texts or objects, by the main task.

        The reply is {"predictions": list of the replies of that task}.
        """
        worker = self._state.find_worker(name)
        text_task = worker.text_model.text_task()
        body = await read_body(http_request, self._state.limits)
        requests = parse_predict_body(text_task, body)
        replies = await self._reply_to_requests(
            http_request, worker, text_task, requests
        )
        return _create_response(b'{"predictions": [%b]}' % b", ".join(replies))

    async def _reply_to_requests(
        self,
        http_request: HttpRequest,
        worker: ModelWorker,
        text_task: AnyTextTask,
        requests: Sequence[object],
    ) -> list[bytes]:
        """Returns the reply to each request of a body, as JSON text."""
        limits = self._state.limits
        check_num_texts(text_task, requests, limits.max_texts)
        call = QueuedCall.create(text_task, requests)
        return await _wait_for_replies(
            worker.compute_replies(call, limits.max_pieces),
            http_request,
            limits.timeout_s,
            "send less text"
            if call.is_long
            else "the server is busy; try again later",
        )


def _list_text_tasks(text_model: TextModel) -> dict[str, AnyTextTask]:
    """Returns {name: text task} of a model, the main one first."""
    return {
        name: text_model.text_task(name) for name in text_model.text_task_names
    }


def _describe_model(text_model: TextModel) -> dict[str, object]:
    """Returns the entries of a model in the reply of `GET /api/models`."""
    return {
        "tasks": text_model.text_task_names,
        "fields": {
            name: text_task.field_names
            for name, text_task in _list_text_tasks(text_model).items()
        },
        "num_texts": text_model.head_settings.get("num_texts"),
        "engine": text_model.engine.name,
    }


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
